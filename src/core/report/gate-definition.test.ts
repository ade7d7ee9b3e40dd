import { describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { definitionIn, restsOf, type GateRest } from "./gate-definition.ts";

/** `file`, `file#script` or `file:target`. */
function shown(rest: GateRest): string {
  if (rest.is === "file") return rest.path;
  return rest.is === "npm-script" ? `${rest.path}#${rest.script}` : `${rest.path}:${rest.target}`;
}

const COMMANDS: readonly [command: string, ...rests: readonly string[]][] = [
  ["./check.sh", "check.sh"],
  ["check.sh", "check.sh"],
  ["scripts/verify --fast", "scripts/verify"],
  ["sh scripts/test.sh -v", "scripts/test.sh"],
  ["bash x.sh && python tools/check.py", "x.sh", "tools/check.py"],
  ["bash -euo pipefail ci/run.sh", "ci/run.sh"],
  ["sh -c './a.sh && npm test'", "a.sh", "package.json#test"],
  ["bash run.sh -c ./not.sh", "run.sh"],
  ["node test/run.mjs", "test/run.mjs"],
  ["node --import ./setup.mjs --enable-source-maps test/run.mjs src/a.js", "test/run.mjs"],
  ["/usr/bin/env python3.12 -W error -u tools/check.py --all", "tools/check.py"],
  ["/usr/bin/python3 tools/check.py", "tools/check.py"],
  ["python manage.py test", "manage.py"],
  ["ruby -Ilib check.rb; perl t.pl; php -d x=1 check.php", "check.rb", "t.pl", "check.php"],
  ["poetry run python tools/check.py", "tools/check.py"],
  ["source ./env.sh && ./check.sh", "env.sh", "check.sh"],
  ["./gradlew test", "gradlew"],
  ["CI=1 FORCE_COLOR=$X ./check.sh", "check.sh"],
  ["env -u FOO BAR=1 time -p ./check.sh", "check.sh"],
  ["timeout -k 5 60 ./check.sh", "check.sh"],
  ["! ./check.sh", "check.sh"],
  ["if ./a.sh; then ./b.sh; else ./c.sh; fi", "a.sh", "b.sh", "c.sh"],
  ["./check.sh 2>&1 | tee logs/out.sh", "check.sh"],
  ["./check.sh > out/x.sh < in/y.sh &> z/z.sh", "check.sh"],
  ["./check.sh # then ./other.sh", "check.sh"],
  ["./a.sh \\\n  --x\n./b.sh", "a.sh", "b.sh"],
  [`"./with space.sh" 'x'`, "with space.sh"],
  ["./a.sh; ./a.sh", "a.sh"],
  ["diff <(./a.sh) expected/b.sh"],
  ["pytest $(./list.sh) tests/a.py"],
  ["cd web && ./check.sh && cd .. && ./check.sh", "web/check.sh", "check.sh"],
  ["(cd web && npm test); (./x.sh); ./check.sh", "web/package.json#test", "x.sh", "check.sh"],
  ["cd $DIR && ./check.sh"],
  // What is checked is not what checks.
  ["pytest tests/"],
  ["vitest run src"],
  ["eslint src/a.ts"],
  ["node --test test/"],
  ["node --check src/a.js"],
  ["python -m pytest tests/a.py"],
  ["python -c 'import a' x/y.py"],
  ["npx vitest run test/a.test.ts"],
  ["tsc -p src/core && cargo test"],
  ["test -x ./check.sh"],
  // What is not the project's own, or cannot be read.
  ["./node_modules/.bin/vitest run src"],
  ["/opt/check.sh && ~/check.sh && ../check.sh"],
  ["$CHECK && sh $SCRIPT && `cat x` && sh scripts/*.sh"],
  [""],
  ["  && ;; | ("],
  // Scripts of package.json.
  ["npm test", "package.json#test"],
  ["npm t", "package.json#test"],
  ["npm run test:unit -- --x", "package.json#test:unit"],
  ["npm run --silent lint && npm run types", "package.json#lint", "package.json#types"],
  ["npm --prefix web test", "web/package.json#test"],
  ["npm test --prefix=web", "web/package.json#test"],
  ["npm run test -C ./web/", "web/package.json#test"],
  ["CI=true npm test", "package.json#test"],
  ["npm ci && npm test", "package.json#test"],
  ["npm run && npm install && npm exec vitest"],
  ["npm test --workspaces && npm test -w a"],
  ["npm --prefix ../other test"],
  ["yarn test", "package.json#test"],
  ["yarn run x --cwd y", "package.json#x"],
  ["yarn --cwd web lint", "web/package.json#lint"],
  ["yarn && yarn install && yarn workspace a test"],
  ["pnpm x", "package.json#x"],
  ["pnpm -C web run x", "web/package.json#x"],
  ["pnpm --filter a test; pnpm -r test; pnpm install"],
  ["bun run x", "package.json#x"],
  ["bun run tools/x.ts", "tools/x.ts"],
  ["bun check.ts", "check.ts"],
  ["bun test"],
  ["node --run check", "package.json#check"],
  ["npm-run-all lint 'test:*' -- --x", "package.json#lint", "package.json#test:*"],
  ["concurrently 'npm:lint' 'npm run types -- -b'", "package.json#lint", "package.json#types"],
  // Targets of a Makefile.
  ["make", "Makefile:"],
  ["make check", "Makefile:check"],
  ["make -s -j 4 lint test CFLAGS=-O2", "Makefile:lint", "Makefile:test"],
  ["make -C sub check", "sub/Makefile:check"],
  ["make --directory=sub -f ci.mk", "sub/ci.mk:"],
  ["make -fci.mk check", "ci.mk:check"],
  ["make $TARGET"],
];

describe("what a command rests on", () => {
  test.each(COMMANDS)("%s", (command, ...rests) => {
    expect(restsOf(command, "").map(shown)).toEqual(rests);
  });

  test("is relative to the root, wherever the gate runs", () => {
    const command = "./a.sh && npm test && make && ../b.sh && ../../../c.sh";
    expect(restsOf(command, "packages/a").map(shown)).toEqual([
      "packages/a/a.sh",
      "packages/a/package.json#test",
      "packages/a/Makefile:",
      "packages/b.sh",
    ]);
    expect(restsOf(command, "..")).toEqual([]);
  });
});

const PACKAGE = {
  name: "x",
  scripts: {
    pretest: "npm run build",
    test: "CI=1 run-s lint 'unit:*' && yarn types",
    posttest: "echo done",
    build: "tsc",
    prebuild: "rm -rf dist",
    lint: "eslint . && npm run lint:css",
    "lint:css": "stylelint .",
    "unit:a": "vitest run a",
    "unit:b": "vitest run b",
    types: "tsc --noEmit && npm test",
    start: "node server.js",
    "web:test": "npm --prefix web run start",
  },
  dependencies: { a: "1" },
};
type Scripts = Readonly<Record<string, unknown>>;
const npm = (changed: Scripts, script = "test", more: object = {}): string | null =>
  definitionIn(
    { is: "npm-script", path: "package.json", script },
    JSON.stringify({ ...PACKAGE, scripts: { ...PACKAGE.scripts, ...changed }, ...more }),
  );

describe("the definition in a package.json", () => {
  test("is the script with those around it and those that they call", () => {
    expect(npm({}, "build")).toBe('# "prebuild"\n  rm -rf dist\n# "build"\n  tsc');
    expect(npm({})?.match(/(?<=^# ").*(?=")/gm)).toEqual([
      "pretest",
      "test",
      "posttest",
      "prebuild",
      "build",
      "lint",
      "unit:a",
      "unit:b",
      "types",
      "lint:css",
    ]);
  });

  test("can be read like a command", () => {
    expect(restsOf(npm({ build: "node build.mjs" }, "build") ?? "", "").map(shown)).toEqual(["build.mjs"]);
  });

  test.each<[string, Scripts]>([
    ["the script", { test: "true" }],
    ["one before it", { pretest: "true" }],
    ["one after it", { posttest: "git checkout ." }],
    ["a new one before one that is called", { prelint: "exit 0" }],
    ["one that is called", { lint: "true" }],
    ["one that one that is called calls", { "lint:css": "true" }],
    ["one that fits a pattern", { "unit:b": "true" }],
    ["a new one that fits a pattern", { "unit:c": "true" }],
    ["one that is called in another way", { types: "true" }],
  ])("changes with %s", (_why, changed) => {
    expect(npm(changed)).not.toBe(npm({}));
  });

  test.each<[string, Scripts, object]>([
    ["dependencies", {}, { dependencies: { a: "2", b: "1" }, devDependencies: { c: "3" } }],
    ["another script", { start: "node other.js", "web:test": "x" }, {}],
    ["a new script", { deploy: "npm test" }, {}],
    ["a script with a similar name", { unit: "x", "test:x": "y" }, {}],
  ])("does not change with %s", (_why, changed, more) => {
    expect(npm(changed, "test", more)).toBe(npm({}));
  });

  test("no line of a script passes for another script", () => {
    expect(npm({ build: 'tsc\n# "postbuild"\n  x' }, "build")).not.toBe(npm({ postbuild: "x" }, "build"));
  });

  test.each(["", "{", "[]", "null", '{"scripts": 3}', '{"scripts": {"test": 3}}', '{"scripts": {}}'])(
    "is not in %j",
    (text) => {
      expect(definitionIn({ is: "npm-script", path: "package.json", script: "test" }, text)).toBeNull();
    },
  );

  test("names that objects have anyway are no scripts", () => {
    expect(npm({}, "toString")).toBeNull();
    expect(npm({ test: "npm run constructor" })).toContain("constructor");
  });
});

const MAKEFILE = `# build
CC = gcc
PY := python3
FLAGS = $(BASE_FLAGS) -v
BASE_FLAGS = -x
STEPS = lint types
UNUSED = 1

.PHONY: all check lint types clean

all: check

check: build/app | dirs
check: $(STEPS)
\t@$(PY) tools/check.py $(FLAGS) \\
\t  --all
# a comment in between
\t$(MAKE) late

build/app: main.c
\t$(CC) -o $@ $<

dirs: ; mkdir -p build

lint:
ifdef FAST
\truff check .
else
\truff check . --all
endif

types:
\tmypy .

late:
\techo late

clean:
\trm -rf build

ifeq ($(OS),x)
other: clean
\techo other
endif
`;
const make = (from: string | RegExp, to: string, target = "check"): string | null => {
  const text = MAKEFILE.replace(from, to);
  if (text === MAKEFILE && from !== "") throw new Error(`${from} is not there`);
  return definitionIn({ is: "make-target", path: "Makefile", target }, text);
};

describe("the definition in a Makefile", () => {
  test("is the rule with its recipe", () => {
    expect(make("", "", "types")).toBe("types:\n\tmypy .\n.PHONY: types");
    expect(make("", "", "other")).toBe(
      "clean:\n\trm -rf build\nifeq ($(OS),x)\nother: clean\n\techo other\n.PHONY: clean",
    );
  });

  test("of no target is that of the first one", () => {
    expect(make("", "", "")).toBe(make("", "", "all"));
    expect(make("UNUSED = 1", ".DEFAULT_GOAL := types", "")).toContain("mypy");
  });

  test.each<[string, string | RegExp, string]>([
    ["its recipe", "--all\n#", "--none\n#"],
    ["what it needs", "check: build/app |", "check: |"],
    ["the recipe of what it needs", "$(CC) -o", "true $(CC) -o"],
    ["what it needs by a variable", "mypy .", "true"],
    ["a variable", "PY := python3", "PY := true"],
    ["a variable in a variable", "BASE_FLAGS = -x", "BASE_FLAGS = -y"],
    ["a recipe in its line", "; mkdir -p build", "; true # mkdir"],
    ["a condition in a recipe", "ifdef FAST", "ifndef FAST"],
    ["a condition around it", "types:\n\tmypy .\n", "ifdef X\ntypes:\n\tmypy .\nendif\n"],
    ["a target that it makes", "echo late", "true"],
    ["being no file", "all check lint", "all lint"],
    ["the shell", "UNUSED = 1", "SHELL = /bin/true"],
    ["failures that are ignored", "UNUSED = 1", ".IGNORE:"],
    ["what is exported", "UNUSED = 1", "export PATH := fake:$(PATH)"],
    ["another rule for it", "clean:\n", "check: SHELL = /bin/true\nclean:\n"],
  ])("changes with %s", (_why, from, to) => {
    expect(make(from, to)).not.toBe(make("", ""));
  });

  test.each<[string, string | RegExp, string]>([
    ["another target", "rm -rf build", "rm -rf build dist"],
    ["a new target", "clean:\n", "fmt:\n\truff format .\n\nclean:\n"],
    ["another target that is no file", "types clean", "types fmt clean other"],
    ["another variable", "UNUSED = 1", "UNUSED = 2"],
    ["a comment", "# build", "# the build"],
    ["a condition elsewhere", "ifeq ($(OS),x)", "ifeq ($(OS),y)"],
    ["line ends", /\n/g, "\r\n"],
  ])("does not change with %s", (_why, from, to) => {
    expect(make(from, to)).toBe(make("", ""));
  });

  test("is not there for a target that is not", () => {
    expect(make("", "", "nothing")).toBeNull();
    expect(definitionIn({ is: "make-target", path: "Makefile", target: "" }, "X = 1\n")).toBeNull();
  });
});

test("a file is all of its definition", () => {
  expect(definitionIn({ is: "file", path: "a.sh" }, "exit 0\n")).toBe("exit 0\n");
});

describe("hostile text takes time in proportion", () => {
  const pieces = [
    "(",
    ")",
    "'",
    '"',
    "$(",
    "`",
    "\\",
    "<(",
    "time ",
    "cd a && ",
    "env X=1 ",
    "sh -c '",
    "./a.sh;",
    "npm test;",
    "make -C ",
    "#",
    "\n",
    "a=",
    "ifdef X\n",
    "a: a\n\t$(a)\n",
    "else\n",
    "define a\n",
    "\t",
    "a: $(b) b\nb = $(a) a\n",
    "x=\\\n",
    " ",
  ];
  test.each(pieces)("%j", (piece) => {
    const work = (size: number): void => {
      const text = piece.repeat(size / piece.length);
      restsOf(text, "a");
      restsOf(`x ${text}`, "");
      definitionIn({ is: "make-target", path: "Makefile", target: "a" }, text);
      definitionIn({ is: "make-target", path: "Makefile", target: "a" }, `a: b\n${text}`);
    };
    expect(growthOfFour(work, 20_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  });

  test("scripts that call each other", () => {
    const work = (size: number): void => {
      const names = Array.from({ length: size / 20 }, (_, index) => `s${index}`);
      const calls = names.map((name, index) => [name, `npm run s${index + 1}; run-s 's*' x*x; npm run s0`]);
      const text = JSON.stringify({ scripts: Object.fromEntries(calls) as unknown });
      definitionIn({ is: "npm-script", path: "package.json", script: "s0" }, text);
    };
    expect(growthOfFour(work, 20_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  });
});
