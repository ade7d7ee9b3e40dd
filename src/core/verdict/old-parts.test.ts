import { describe, expect, test } from "vitest";
import { findSetBacks } from "./check-files.ts";

const gates = (command: string) => [{ command, cwd: null }];

/** The text with the old parts, null when nothing is set back. */
function merged(path: string, before: string | null, after: string, command = "npm test"): string | null {
  const [found] = findSetBacks([{ path, before, after }], gates(command));
  if (found === undefined) return null;
  return found.to === "merged" ? found.text : `(${found.to})`;
}
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

describe("package.json", () => {
  const OLD = {
    name: "a",
    scripts: { test: "vitest run", build: "tsc" },
    jest: { coverageThreshold: { global: { lines: 90 } } },
    dependencies: { a: "1" },
  };
  const ask = (now: object, command?: string): unknown => {
    const text = merged("package.json", json(OLD), json({ ...OLD, ...now }), command);
    return text === null ? null : JSON.parse(text);
  };

  test.each([
    ["a dependency", { dependencies: { a: "2", b: "1" } }],
    ["its version and entry", { version: "2.0.0", main: "lib.js", exports: { ".": "./lib.js" } }],
    ["a new script", { scripts: { ...OLD.scripts, bench: "node bench.js" } }],
    ["another order of keys", { scripts: { build: "tsc", test: "vitest run" } }],
  ])("%s steers no check", (_, now) => {
    expect(ask(now)).toBeNull();
  });

  test("scripts and sections of tools are as they were, dependencies as they are", () => {
    const now = {
      scripts: { test: "true", build: "tsc", start: "node ." },
      jest: {},
      ava: { files: [] },
      dependencies: { a: "2" },
    };
    expect(ask(now)).toEqual({
      ...OLD,
      scripts: { ...OLD.scripts, start: "node ." },
      dependencies: { a: "2" },
    });
  });

  test.each([
    ["before an old script", { pretest: "rm test/*" }, undefined],
    ["after an old script", { posttest: "true" }, undefined],
    ["in place of a program", { eslint: "true" }, "yarn eslint ."],
  ])("a new script %s is removed", (_, scripts, command) => {
    expect(ask({ scripts: { ...OLD.scripts, ...scripts } }, command)).toEqual(OLD);
  });

  test("the indent stays, and a broken file is taken as it was", () => {
    const tabs = JSON.stringify({ ...OLD, scripts: {} }, null, "\t");
    expect(merged("package.json", json(OLD), tabs)).toBe(JSON.stringify(OLD, null, "\t"));
    expect(merged("package.json", json(OLD), "{")).toBe(json(OLD));
    expect(merged("package.json", "[]", json(OLD))).toBe("[]");
  });

  test("one that is data of a test is set back as a whole", () => {
    expect(merged("test/fixtures/app/package.json", "{}", json(OLD))).toBe("(old)");
  });

  test("composer.json and deno.json are merged in the same way", () => {
    const composer = (test: string, require: object) => json({ require, scripts: { test } });
    expect(merged("composer.json", composer("phpunit", {}), composer("true", { a: "1" }))).toBe(
      composer("phpunit", { a: "1" }),
    );
    const deno = (task: string, imports: object) => json({ imports, tasks: { test: task }, lint: {} });
    expect(merged("deno.json", deno("deno test", {}), deno("true", { a: "b" }))).toBe(
      deno("deno test", { a: "b" }),
    );
    expect(merged("deno.json", deno("deno test", {}), deno("deno test", { a: "b" }))).toBeNull();
  });
});

describe("files of sections", () => {
  const PROJECT = `[project]
name = "a"
dependencies = [
  "requests",
]

[tool.mypy]
strict = true

[[tool.mypy.overrides]]
module = "a"
`;

  test.each([
    ["a dependency", PROJECT.replace('"requests",', '"requests",\n  "rich",')],
    ["a comment", `# new\n${PROJECT}`],
    ["a section of the package", `${PROJECT}\n[dependency-groups]\ndev = ["pytest"]\n`],
  ])("pyproject.toml: %s steers no check", (_, after) => {
    expect(merged("pyproject.toml", PROJECT, after)).toBeNull();
  });

  test.each([
    ["a weaker checker", PROJECT.replace("strict = true", "ignore_errors = true")],
    ["a removed checker", PROJECT.replace("[tool.mypy]\nstrict = true\n\n", "")],
    ["options of pytest", `${PROJECT}\n[tool.pytest.ini_options]\naddopts = "--co"\n`],
    ["indented and quoted options", `${PROJECT}\n  [ "tool" . pytest.ini_options ]\naddopts = "--co"\n`],
    ["options without a section", `tool.pytest.ini_options.addopts = "--co"\n${PROJECT}`],
    ["options in the section of all tools", `${PROJECT}\n[tool]\nruff = { ignore = ["E"] }\n`],
  ])("pyproject.toml: %s is set back, a new dependency stays", (_, after) => {
    const rich = after.replace('"requests"', '"rich"');
    expect(merged("pyproject.toml", PROJECT, rich)?.trim()).toBe(
      PROJECT.replace('"requests"', '"rich"').trim(),
    );
  });

  test("a bracket that hides the sections after it does not hide them", () => {
    const hidden = `${PROJECT.replace("strict = true", "strict = false")}x = """[\n"""\n`;
    expect(merged("pyproject.toml", PROJECT, hidden)).toBe(PROJECT);
  });

  test("a new pyproject.toml loses what steers checks", () => {
    const text = merged(
      "pyproject.toml",
      null,
      '[project]\nname = "a"\n[tool.pytest.ini_options]\naddopts = "--co"\n',
    );
    expect(text?.trim()).toBe('[project]\nname = "a"');
    expect(merged("pyproject.toml", null, '[project]\nname = "a"\n')).toBeNull();
  });

  test("setup.cfg keeps the new requirements and the old rules", () => {
    const cfg = (requires: string, rule: string) =>
      `[options]\ninstall_requires =\n    ${requires}\n\n[flake8]\nignore = ${rule}\n`;
    expect(merged("setup.cfg", cfg("a", "E1"), cfg("b", "E"))).toBe(cfg("b", "E1"));
    expect(merged("setup.cfg", cfg("a", "E1"), cfg("b", "E1"))).toBeNull();
  });

  test("Cargo.toml keeps the new dependencies and the old lints, targets and switches", () => {
    const cargo = (more: string, dependency: string, lints: string) =>
      `[package]\n${more}name = "a"\n\n[dependencies]\n${dependency} = "1"\n\n[lints.clippy]\nall = "${lints}"\n`;
    expect(merged("Cargo.toml", cargo("", "a", "deny"), cargo("", "b", "deny"))).toBeNull();
    expect(merged("Cargo.toml", cargo("", "a", "deny"), cargo("", "b", "allow"))).toBe(
      cargo("", "b", "deny"),
    );
    expect(merged("Cargo.toml", cargo("", "a", "deny"), cargo("autotests = false\n", "b", "deny"))).toBe(
      cargo("", "b", "deny"),
    );
    const tests = `${cargo("", "a", "deny")}\n[lib]\ntest = false\n\n[profile.test]\ndebug-assertions = false\n`;
    expect(merged("Cargo.toml", cargo("", "a", "deny"), tests)).not.toMatch(/test = false|profile/);
  });
});

describe("build files with dependencies", () => {
  test("build.gradle keeps the new dependencies and the old rest", () => {
    const gradle = (test: string, dependency: string) =>
      `plugins {\n    id 'java'\n}\ntest {\n    ${test}\n}\n\ndependencies {\n    implementation '${dependency}'\n}\n`;
    expect(merged("build.gradle", gradle("useJUnit()", "a"), gradle("useJUnit()", "b"))).toBeNull();
    expect(merged("build.gradle", gradle("useJUnit()", "a"), gradle("enabled = false", "b"))?.trim()).toBe(
      gradle("useJUnit()", "b").replace("\n\ndep", "\ndep").trim(),
    );
  });

  test("pom.xml keeps the new dependencies of the project, not those of a plugin", () => {
    const pom = (dependency: string, skip: string) =>
      `<project>\n  <modelVersion>4.0.0</modelVersion>\n  <dependencies>\n    <dependency>${dependency}</dependency>\n  </dependencies>\n  <build>\n    <plugin>\n      <dependencies>\n        ${skip}\n      </dependencies>\n    </plugin>\n  </build>\n</project>\n`;
    expect(merged("pom.xml", pom("a", "1"), pom("b", "1"))).toBeNull();
    const text = merged("pom.xml", pom("a", "1"), pom("b", "2"));
    expect(text).toMatch(/<dependency>b<.*<\/project>\n$/s);
    expect(text).toContain("        1\n");
  });
});

test("changed examples of Python's doctest run as they were, beside the new ones", () => {
  const source = (examples: string): string =>
    `def twice(n):\n    """\n${examples}    """\n    return 2 * n\n`;
  const merge = (before: string, after: string): string | null =>
    merged("a.py", source(before), source(after), "python3 -m doctest a.py");
  const example = "    >>> twice(2)\n    4\n";
  expect(merge(example, `${example}    >>> twice(3)\n    6\n`)).toBeNull();
  const changed = "    >>> twice(2)\n    44\n";
  expect(merge(example, changed)).toBe(
    `${source(changed)}\n\n__test__ = {"before the task": ">>> twice(2)\\n4"}\n`,
  );
});

describe("Rust sources", () => {
  const source = (body: string, tests: string) => `pub fn add() -> i32 {\n    ${body}\n}\n${tests}`;
  const TESTS =
    "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(), 1);\n    }\n}\n";

  test("without a change of its tests nothing is set back", () => {
    expect(merged("src/lib.rs", source("1", TESTS), source("2", TESTS))).toBeNull();
    expect(merged("src/lib.rs", source("1", ""), source("2", TESTS))).toBeNull();
  });

  test("a new test needs no second pass", () => {
    const more = TESTS.replace(
      /\}\n$/,
      "\n    #[test]\n    fn more() {\n        assert_eq!(add(), 2);\n    }\n}\n",
    );
    expect(merged("src/lib.rs", source("1", TESTS), source("2", more))).toBeNull();
  });

  test.each([
    ["weakened", TESTS.replace("add(), 1", "1, 1")],
    ["ignored", TESTS.replace("    fn", "    #[ignore]\n    fn")],
    ["deleted", ""],
    ["moved to a file", "\n#[cfg(test)]\nmod tests;\n"],
  ])("%s tests are set back, the code stays", (_, tests) => {
    expect(merged("src/lib.rs", source("1", TESTS), source("2", tests))).toBe(source("2", TESTS));
  });

  test("a hostile text takes no longer than its length", () => {
    const text = "#[cfg(test)]\n".repeat(40_000);
    const before = process.cpuUsage();
    expect(merged("src/lib.rs", source("1", TESTS), text)).not.toBeNull();
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});
