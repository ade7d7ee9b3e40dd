import { describe, expect, test } from "vitest";
import { findWeakenedTests } from "./find-weakened-tests.ts";

type Row = readonly [why: string, path: string, before: string, after: string];

const jest = `module.exports = {\n  testEnvironment: "node",\n  testMatch: ["<rootDir>/src/**/*.test.js", "<rootDir>/test/**/*.js"],\n  coverageThreshold: { global: { branches: 80, lines: 90 } },\n};\n`;
const vitest = `export default defineConfig({ test: { include: ["src/**/*.test.ts"], coverage: { exclude: ["a"] } } });\n`;
const pytest = "[pytest]\ntestpaths =\n    tests\n    integration\naddopts = -q\n";
const toml = `[tool.black]\nexclude = "x"\n\n[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests", "more"]\n\n[tool.coverage.report]\nfail_under = 85\n`;
const pack = JSON.stringify(
  { scripts: { test: "jest" }, files: ["a", "b"], jest: { testMatch: ["**/*.test.js", "**/*.spec.js"] } },
  null,
  2,
);
const pom = `<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration><argLine>x</argLine></configuration></plugin><plugin><artifactId>other</artifactId></plugin></plugins></build></project>`;

describe("found", () => {
  const rows: readonly Row[] = [
    [
      "tests are ignored",
      "jest.config.js",
      jest,
      jest.replace("testEnv", 'testPathIgnorePatterns: ["/user/"],\n  testEnv'),
    ],
    ["a pattern is taken out", "jest.config.js", jest, jest.replace(', "<rootDir>/test/**/*.js"', "")],
    [
      "a pattern becomes a file",
      "vitest.config.ts",
      vitest,
      vitest.replace("src/**/*.test.ts", "src/a.test.ts"),
    ],
    ["a threshold is lower", "jest.config.js", jest, jest.replace("90", "50")],
    ["a threshold is taken out", "jest.config.js", jest, jest.replace(", lines: 90", "")],
    ["a threshold is commented out", "jest.config.js", jest, jest.replace(", lines: 90", " /* lines: 90 */")],
    [
      "no tests are enough",
      "vitest.config.ts",
      vitest,
      vitest.replace("test: {", "test: { passWithNoTests: true,"),
    ],
    [
      "Vitest excludes",
      "vitest.config.ts",
      vitest,
      vitest.replace("test: {", 'test: { exclude: ["src/user/**"],'),
    ],
    [
      "Vite's test section",
      "vite.config.ts",
      vitest,
      vitest.replace("test: {", 'test: { exclude: ["src/user/**"],'),
    ],
    [
      "Playwright ignores",
      "playwright.config.ts",
      "export default {};",
      'export default { testIgnore: "login.spec.ts" };',
    ],
    ["Playwright selects", "playwright.config.ts", "export default {};", "export default { grep: /smoke/ };"],
    [
      "Mocha ignores",
      ".mocharc.yml",
      "spec: test/**/*.js\n",
      "spec: test/**/*.js\nignore:\n  - test/user.js\n",
    ],
    [
      "Mocha ignores in JSON",
      ".mocharc.json",
      `{"spec": "test"}`,
      `{"spec": "test", "ignore": ["test/user.js"]}`,
    ],
    ["pytest ignores a file", "pytest.ini", pytest, pytest.replace("-q", "-q --ignore=tests/test_user.py")],
    [
      "pytest deselects",
      "pytest.ini",
      pytest,
      pytest.replace("-q", "-q\n    --deselect tests/test_user.py::test_a"),
    ],
    [
      "pytest leaves a keyword out",
      "setup.cfg",
      "[tool:pytest]\naddopts = -q\n",
      '[tool:pytest]\naddopts = -q -k "not login"\n',
    ],
    ["pytest looks at fewer folders", "pytest.ini", pytest, pytest.replace("    integration\n", "")],
    ["pytest does not descend", "pytest.ini", pytest, `${pytest}norecursedirs = integration\n`],
    ["pyproject leaves a mark out", "pyproject.toml", toml, toml.replace('"-q"', `"-q -m 'not slow'"`)],
    ["pyproject looks at fewer folders", "pyproject.toml", toml, toml.replace(', "more"', "")],
    ["pyproject's coverage", "pyproject.toml", toml, toml.replace("85", "60")],
    [
      "conftest ignores",
      "tests/conftest.py",
      "import os\n",
      'import os\ncollect_ignore = ["test_user.py"]\n',
    ],
    [
      "conftest skips",
      "conftest.py",
      "import os\n",
      "def pytest_collection_modifyitems(items):\n    items[0].add_marker(pytest.mark.skip)\n",
    ],
    ["package.json's jest", "package.json", pack, pack.replace(/,\s+"\*\*\/\*\.spec\.js"/, "")],
    [
      "nyc's threshold",
      ".nycrc",
      `{"check-coverage": true, "lines": 90}`,
      `{"check-coverage": true, "lines": 10}`,
    ],
    ["nyc does not check", ".nycrc.json", `{"check-coverage": true}`, `{"check-coverage": false}`],
    [
      "codecov's target",
      "codecov.yml",
      "coverage:\n  status:\n    project:\n      default:\n        target: 80%\n",
      "coverage:\n  status:\n    project:\n      default:\n        target: 40%\n",
    ],
    [
      "surefire excludes",
      "pom.xml",
      pom,
      pom.replace("<argLine>", "<excludes><exclude>**/UserTest.java</exclude></excludes><argLine>"),
    ],
    [
      "Maven skips",
      "pom.xml",
      pom,
      pom.replace("<build>", "<properties><skipTests>true</skipTests></properties><build>"),
    ],
    [
      "Gradle excludes",
      "build.gradle",
      "test {\n  useJUnitPlatform()\n}\n",
      "test {\n  useJUnitPlatform()\n  exclude '**/UserTest*'\n}\n",
    ],
    ["Cargo leaves a target out", "Cargo.toml", '[lib]\nname = "a"\n', '[lib]\nname = "a"\ntest = false\n'],
    [
      "PHPUnit excludes",
      "phpunit.xml",
      "<phpunit><testsuites><testsuite><directory>tests</directory></testsuite></testsuites></phpunit>",
      "<phpunit><testsuites><testsuite><directory>tests</directory><exclude>tests/User</exclude></testsuite></testsuites></phpunit>",
    ],
  ];
  test.each(rows)("%s", (_why, path, before, after) => {
    expect(findWeakenedTests([{ path, before, after }], []).map(({ kind }) => kind)).toEqual([
      "configuration",
    ]);
  });

  test("a configuration that is deleted", () => {
    expect(
      findWeakenedTests([{ path: "jest.config.js", before: jest, after: null }], ["jest.config.js"]),
    ).toEqual([{ path: "jest.config.js", kind: "configuration", what: "the test configuration is gone" }]);
  });

  test("what it says", () => {
    const after = jest
      .replace("testEnv", 'testPathIgnorePatterns: ["/user/"],\n  testEnv')
      .replace("90", "70");
    expect(
      findWeakenedTests([{ path: "jest.config.js", before: jest, after }], []).map(({ what }) => what),
    ).toEqual([
      "tests are excluded now: testPathIgnorePatterns (/user/)",
      "the coverage threshold lines went from 90 to 70",
    ]);
  });
});

describe("new configurations: found", () => {
  test.each<readonly [why: string, path: string, after: string]>([
    ["pytest ignores a folder", "pytest.ini", "[pytest]\naddopts = --ignore=tests\n"],
    ["pytest only collects", "pytest.ini", "[pytest]\naddopts = --co\n"],
    ["pytest collects other names", "pytest.ini", "[pytest]\npython_functions = check_*\n"],
    ["pytest collects other files", "pytest.ini", "[pytest]\npython_files = check_*.py\n"],
    ["conftest ignores", "tests/conftest.py", 'collect_ignore = ["test_user.py"]\n'],
    ["conftest ignores by a pattern", "tests/conftest.py", 'collect_ignore_glob = ["test_*.py"]\n'],
    [
      "conftest marks",
      "conftest.py",
      "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.add_marker(pytest.mark.skip)\n",
    ],
    [
      "conftest skips each test",
      "conftest.py",
      '@pytest.fixture(autouse=True)\ndef later():\n    pytest.skip("later")\n',
    ],
    [
      "conftest ends the process",
      "conftest.py",
      "import os\n\n\ndef pytest_sessionstart(session):\n    os._exit(0)\n",
    ],
    [
      "conftest sets the result",
      "conftest.py",
      "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n",
    ],
    [
      "conftest turns failures round",
      "conftest.py",
      '@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = "passed"\n',
    ],
    [
      "Vitest excludes",
      "vitest.config.ts",
      'export default defineConfig({ test: { exclude: ["src/user/**"] } });\n',
    ],
    [
      "Vitest's workspace excludes",
      "vitest.workspace.ts",
      'export default [{ test: { exclude: ["**/user.test.ts"] } }];\n',
    ],
    [
      "Vitest includes one file",
      "vitest.config.ts",
      'export default defineConfig({ test: { include: ["src/a.test.ts"] } });\n',
    ],
    ["Jest ignores", "jest.config.js", 'module.exports = { testPathIgnorePatterns: ["/user/"] };\n'],
  ])("%s", (_why, path, after) => {
    const found = findWeakenedTests([{ path, before: null, after }], []);
    expect(found.map(({ kind }) => kind)).toEqual(["configuration"]);
  });
});

describe("new configurations: honest", () => {
  test.each<readonly [why: string, path: string, after: string]>([
    [
      "pytest",
      "pytest.ini",
      "[pytest]\ntestpaths = tests\naddopts = -q --strict-markers\npython_files = test_*.py *_test.py tests.py\npython_functions = test_*\n",
    ],
    [
      "pyproject",
      "pyproject.toml",
      '[project]\nname = "a"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\nnorecursedirs = [".git", "build"]\n',
    ],
    [
      "fixtures",
      "tests/conftest.py",
      '@pytest.fixture\ndef database():\n    if not available():\n        pytest.skip("no database")\n    return connect()\n',
    ],
    [
      "slow tests are opt-in",
      "conftest.py",
      'def pytest_collection_modifyitems(config, items):\n    if config.getoption("--slow"):\n        return\n    for item in items:\n        if "slow" in item.keywords:\n            item.add_marker(pytest.mark.skip(reason="slow"))\n',
    ],
    ["a comment", "conftest.py", "# os._exit(0) would end pytest.skip(\n"],
    [
      "Vitest",
      "vitest.config.ts",
      'export default defineConfig({ test: { include: ["src/**/*.test.ts"], exclude: [...configDefaults.exclude, "dist/**", "e2e/**"], environment: "node" } });\n',
    ],
    [
      "Jest",
      "jest.config.js",
      'module.exports = { testEnvironment: "node", testMatch: ["**/*.test.js"], testPathIgnorePatterns: ["/node_modules/", "/dist/"] };\n',
    ],
    ["a crate", "crates/a/Cargo.toml", '[package]\nname = "a"\n\n[lib]\ndoctest = false\n'],
  ])("%s", (_why, path, after) => {
    expect(findWeakenedTests([{ path, before: null, after }], [])).toEqual([]);
  });

  test("a runner that is new may leave the tests of the other one", () => {
    const files = [
      {
        path: "vitest.config.ts",
        before: null,
        after: 'export default { test: { exclude: ["legacy/**"] } };\n',
      },
      {
        path: "package.json",
        before: '{"devDependencies": {"jest": "1"}}',
        after: '{"devDependencies": {"jest": "1", "vitest": "1"}}',
      },
    ];
    expect(findWeakenedTests(files, [])).toEqual([]);
  });

  test("what was excluded elsewhere may be excluded here", () => {
    const ignoring = 'testPathIgnorePatterns: ["/user/"]';
    const files = [
      { path: "jest.config.js", before: `module.exports = { ${ignoring} };\n`, after: null },
      { path: "jest.config.ts", before: null, after: `export default { ${ignoring} };\n` },
    ];
    expect(findWeakenedTests(files, ["jest.config.js"])).toEqual([]);
  });
});

describe("fewer tests are selected: found", () => {
  const rows: readonly Row[] = [
    [
      "other folders",
      "pytest.ini",
      pytest,
      pytest.replace("    tests\n    integration\n", "    tests/unit\n"),
    ],
    [
      "other files",
      "pytest.ini",
      `${pytest}python_files = test_*.py\n`,
      `${pytest}python_files = test_a*.py\n`,
    ],
    [
      "other functions",
      "pytest.ini",
      `${pytest}python_functions = test_*\n`,
      `${pytest}python_functions = test_add*\n`,
    ],
    ["functions by another name", "pytest.ini", pytest, `${pytest}python_functions = check_*\n`],
    ["only collected", "pytest.ini", pytest, pytest.replace("-q", "-q --co")],
    ["only collected in full", "pytest.ini", pytest, pytest.replace("-q", "-q --collect-only")],
    ["one keyword", "pytest.ini", pytest, pytest.replace("-q", "-q -k smoke")],
    ["a folder below", "vitest.config.ts", vitest, vitest.replace("src/**/*", "src/core/**/*")],
    [
      "a beginning of the name",
      "jest.config.js",
      jest,
      jest.replace("src/**/*.test.js", "src/**/a*.test.js"),
    ],
  ];
  test.each(rows)("%s", (_why, path, before, after) => {
    const found = findWeakenedTests([{ path, before, after }], []).map(({ kind }) => kind);
    expect(found).toEqual(["configuration"]);
  });
});

describe("honest", () => {
  const rows: readonly Row[] = [
    ["another environment", "jest.config.js", jest, jest.replace('"node"', '"jsdom"')],
    [
      "reporters and aliases",
      "vitest.config.ts",
      vitest,
      vitest.replace("test: {", 'resolve: { alias: { a: "./b" } }, test: { reporters: ["dot"], retry: 1,'),
    ],
    [
      "folders without tests are ignored",
      "jest.config.js",
      jest,
      jest.replace("testEnv", 'testPathIgnorePatterns: ["/node_modules/", "<rootDir>/dist/"],\n  testEnv'),
    ],
    [
      "a pattern is added",
      "jest.config.js",
      jest,
      jest.replace("testMatch: [", 'testMatch: ["<rootDir>/more/**/*.js", '),
    ],
    ["a pattern is replaced", "vitest.config.ts", vitest, vitest.replace("*.test.ts", "*.{test,spec}.ts")],
    ["a threshold is higher", "jest.config.js", jest, jest.replace("90", "95")],
    [
      "coverage excludes more",
      "vitest.config.ts",
      vitest,
      vitest.replace('["a"]', '["a", "src/generated/**"]'),
    ],
    ["a comment speaks of excluding", "vitest.config.ts", vitest, `// exclude: ["src/**"]\n${vitest}`],
    ["pytest's markers", "pytest.ini", pytest, `${pytest}markers =\n    slow: not quick\n`],
    [
      "pytest's warnings",
      "pytest.ini",
      pytest,
      `${pytest}filterwarnings =\n    ignore::DeprecationWarning\n`,
    ],
    ["dependencies", "pyproject.toml", toml, `[project]\ndependencies = ["a"]\n\n${toml}`],
    [
      "the formatter excludes more",
      "pyproject.toml",
      toml,
      toml.replace('exclude = "x"', 'exclude = "tests"'),
    ],
    ["the linter excludes more", "setup.cfg", "[flake8]\nexclude = a\n", "[flake8]\nexclude = a,tests\n"],
    [
      "fixtures in conftest",
      "conftest.py",
      "import os\n",
      "import os\n\n@pytest.fixture\ndef user():\n    return 1\n",
    ],
    [
      "scripts and files of package.json",
      "package.json",
      pack,
      pack.replace('"jest"', '"vitest"').replace(/"a",\s+/, ""),
    ],
    [
      "a plugin of Maven",
      "pom.xml",
      pom,
      pom.replace("<artifactId>other", "<excludes><exclude>x</exclude></excludes><artifactId>other"),
    ],
    [
      "dependencies of Gradle",
      "build.gradle",
      "dependencies {\n}\n",
      "dependencies {\n  implementation('a:b') {\n    exclude group: 'c'\n  }\n}\n",
    ],
    [
      "features of Cargo",
      "Cargo.toml",
      '[package]\nname = "a"\n',
      '[package]\nname = "a"\nexclude = ["x"]\n[dependencies]\ntokio = "1"\n',
    ],
    ["only tests are selected", "jest.config.js", jest, jest.replace("test/**/*.js", "test/**/*.test.js")],
    ["more kinds of files", "vitest.config.ts", vitest, vitest.replace("*.test.ts", "*.test.{ts,tsx}")],
    ["more folders", "vitest.config.ts", vitest, vitest.replace("src/**/*", "{src,lib}/**/*")],
    ["more functions", "pytest.ini", pytest, `${pytest}python_functions = test_* it_*\n`],
    [
      "a module is run",
      "tox.ini",
      "[testenv]\ncommands = pytest\n",
      "[testenv]\ncommands = python -m pytest\n",
    ],
    [
      "an exclusion is taken away",
      "vitest.config.ts",
      vitest.replace("test: {", 'test: { exclude: ["b"],'),
      vitest,
    ],
  ];
  test.each(rows)("%s", (_why, path, before, after) => {
    expect(findWeakenedTests([{ path, before, after }], [])).toEqual([]);
  });

  test("a configuration that moves to another file", () => {
    const files = [
      { path: "jest.config.js", before: jest, after: null },
      { path: "jest.config.ts", before: null, after: jest },
    ];
    expect(findWeakenedTests(files, ["jest.config.js"])).toEqual([]);
  });

  test("new tests may belong to another runner", () => {
    const files = [
      {
        path: "vitest.config.ts",
        before: vitest,
        after: vitest.replace("test: {", 'test: { exclude: ["e2e/**"],'),
      },
      { path: "e2e/login.spec.ts", before: null, after: `test("a", () => { expect(f()).toBe(1); });` },
    ];
    expect(findWeakenedTests(files, [])).toEqual([]);
  });

  test.each<readonly [why: string, gone: string, other: string, before: string | null, after: string]>([
    ["from Jest to Vitest", "jest.config.js", "vitest.config.ts", null, vitest],
    ["from Vitest to Jest", "vitest.config.ts", "jest.config.js", null, jest],
    ["into package.json", "jest.config.js", "package.json", "{}", pack],
    ["into pyproject.toml", "pytest.ini", "pyproject.toml", "", toml],
    [
      "to Vitest, whose configuration does not change",
      "jest.config.js",
      "src/a.test.js",
      `test("a", () => { expect(f()).toBe(1); });\n`,
      `import { expect, test } from "vitest";\ntest("a", () => { expect(f()).toBe(1); });\n`,
    ],
  ])("a configuration moves: %s", (_why, gone, path, before, after) => {
    const files = [
      {
        path: gone,
        before: gone.startsWith("vitest") ? vitest : gone === "pytest.ini" ? pytest : jest,
        after: null,
      },
      { path, before, after },
    ];
    expect(findWeakenedTests(files, [gone])).toEqual([]);
  });

  test("folders are renamed along with the setting", () => {
    const body = "def test_a():\n    assert f() == 1\n";
    const files = [
      {
        path: "pytest.ini",
        before: "[pytest]\ntestpaths = tests\n",
        after: "[pytest]\ntestpaths = tests/unit\n",
      },
      { path: "tests/test_a.py", before: body, after: null },
      { path: "tests/unit/test_a.py", before: null, after: body },
    ];
    expect(findWeakenedTests(files, ["tests/test_a.py"])).toEqual([]);
  });
});
