import type { GateLine } from "./check-files.ts";
import { CODE_ENDING, IS_CODE } from "./only-gains.ts";

/** `mixed` is check and program in one file. */
export type Kind = "test" | "settings" | "build" | "script" | "mixed";

/** What a file steers checks as, by its path alone; null: it is no check file. */
export function kindOf(path: string, gates: readonly GateLine[]): Kind | null {
  if (VENDORED_TOOL.test(path)) return "script";
  if (OTHERS.test(path)) return null;
  const base = baseOf(path);
  const isProduct = PRODUCT_FOLDER.test(path);
  if (isData(path)) return "test";
  if (SETTINGS.some((name) => name.test(base)) || SETTINGS_PATH.test(path)) return "settings";
  if (GENERIC_CONFIG.test(path) && !isProduct) return "settings";
  if (TEST_FOLDER.test(path) || TEST_NAMES.some((name) => name.test(path))) return "test";
  if (LOOSE_TEST_NAME.test(path) && !isProduct) return "test";
  // The examples of a docstring are a check that stands in the program.
  const hasDoctests = path.endsWith(".py") && gates.some(({ command }) => command.includes("doctest"));
  if (MIXED.test(base) || hasDoctests) return "mixed";
  if (BUILD.test(base)) return "build";
  if (isNamed(path, gates) && saysSo(path)) return "script";
  if (isNamed(path, gates)) return base.endsWith(".rs") ? "mixed" : null;
  const isCode = IS_CODE.test(base) || !base.includes(".");
  if (!isProduct && SCRIPT_FOLDER.test(path) && (isCode || /\.(?:ya?ml|json|toml|txt)$/.test(base)))
    return "script";
  if (!isProduct && isCode && hasScriptWord(path)) return "script";
  return base.endsWith(".rs") ? "mixed" : null;
}

/** Whether a new file changes what gates do although nothing names it. */
export function takesEffectByItself(path: string, gates: readonly GateLine[]): boolean {
  if (isData(path)) return false;
  return (
    kindOf(path, gates) === "settings" ||
    SHADOWS.some((one) => one.test(path)) ||
    isGoal(path, gates) ||
    // Other gates may call make, too.
    (USUAL_GOAL.test(baseOf(path)) && !isNamed(path, gates)) ||
    (TEST_FOLDER.test(path) && MARK.test(baseOf(path)))
  );
}

export function isTestCode(path: string): boolean {
  return IS_CODE.test(path) && kindOf(path, []) === "test";
}

/** Whether what lies in a folder of this name is part of the tests. */
export function isTestFolder(name: string): boolean {
  return TEST_FOLDER.test(`${name}/`);
}

/** Whether a script is one that checks, by its name alone. */
export function hasScriptWord(path: string): boolean {
  return wordsOf(baseOf(path)).some((word) => SCRIPT_WORDS.test(word));
}

/** Files that tests read: nothing in them takes effect by itself. */
export function isData(path: string): boolean {
  if (DATA_FOLDER.test(path)) return true;
  return LOOSE_DATA_FOLDER.test(path) && (TEST_FOLDER.test(path) || !PRODUCT_FOLDER.test(path));
}

function saysSo(path: string): boolean {
  const words = wordsOf(baseOf(path));
  // In `src` only a whole name says so: src/spec-parser.ts is a program.
  const own = PRODUCT_FOLDER.test(path) && words.length > 1 ? [] : words;
  return own.concat(folderOf(path).split("/").flatMap(wordsOf)).some((word) => SAYS.test(word));
}

/** The words of a file's name, without its ending. */
function wordsOf(name: string): string[] {
  const stem = name.replace(/(?<=.)\.\w+$/, "");
  return stem
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1 ")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

export function isNamed(path: string, gates: readonly GateLine[]): boolean {
  return gates.some(({ command, cwd }) =>
    command.split(/[\s;&|()<>"'`$={},]+/).some((word) => {
      const plain = word.replace(/^(?:\.\/)+/, "");
      if (plain === "" || !path.endsWith(plain)) return false;
      return (
        path === plain ||
        path === `${cwd ?? ""}/${plain}` ||
        (/\w\.\w/.test(plain) && path.endsWith(`/${plain}`))
      );
    }),
  );
}

/** Whether a gate has make reach a goal of this name: a file or folder there stands for a goal that is done. */
export function isGoal(path: string, gates: readonly GateLine[]): boolean {
  const lines = gates.flatMap(({ command }) => command.split(/[;&|()]+/));
  return lines.some((line) => {
    const words = line.trim().split(/\s+/);
    return words.includes(baseOf(path)) && words.some((word) => /^(?:\S*\/)?(?:[gb]?make|ninja)$/.test(word));
  });
}

/** `.skip` or `DISABLED` among tests tells their runner something by being there. */
const MARK = /^(?:\.(?!git|DS_Store|coverage)[\w-]+|[A-Z]{3,})$/;
const USUAL_GOAL = /^(?:tests?|checks?|lint|verify|unit|specs?|build|all|ci|coverage|typecheck|e2e)$/;

export function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

const PRODUCT_FOLDER = /(?:^|\/)(?:src|lib|app|pkg|internal|cmd|include|public|static|assets|www)\//;
/** Copies of others' work, and words. */
const OTHERS =
  /(?:^|\/)(?:node_modules|vendor|third_party|\.git)\/|(?:^|\/)(?:README|CHANGELOG|LICENSE)[^/]*$|^docs?\/.*\.(?:md|rst|adoc|txt|html?)$/i;

const TEST_FOLDER =
  /(?:^|\/)(?:tests?|specs?|e2e|cypress|step_definitions|__(?:tests?|mocks)__|(?:[\w.]*[a-z0-9.](?=T)|(?:android|unit|integration|functional|acceptance|system|smoke|regression|browser|ui|api)[-_]?)[tT]ests?|tests?[-_](?:utils?|helpers?|support))\//;
const DATA_FOLDER = /(?:^|\/)(?:__(?:fixtures|snapshots)__|test[-_]?(?:data|files|resources))\//i;
/** Product code has names like these, too. */
const LOOSE_DATA_FOLDER = /(?:^|\/)(?:fixtures?|snapshots?|goldens?)\//;
const LOOSE_TEST_NAME = new RegExp(String.raw`(?:^|/)(?:test-[^/]*|specs?)\.${CODE_ENDING}$`, "i");
const TEST_NAMES: readonly RegExp[] = [
  new RegExp(String.raw`[._-](?:tests?(?:-d)?|specs?|e2e|cy|unittests?)\.${CODE_ENDING}$`, "i"),
  new RegExp(String.raw`(?:^|/)test(?:s|_[^/]*)?\.${CODE_ENDING}$`, "i"),
  /(?:[a-z0-9](?:Tests?|TestCase|Specs?|IT)|(?:^|\/)Test[A-Z0-9]\w*)\.(?:java|kts?|cs|fs|vb|php|scala|groovy|swift|mm?|cc|cpp|cxx|hs|dart)$/,
  /\.(?:bats|snap|feature|robot|golden|t|(?:approved|verified|expected)\.\w+)$/,
  /(?:^|[/._-])(?:expected|golden)(?:[._-](?:output|result)s?)?\.(?:txt|json|csv|tsv|ya?ml|xml|html|out|log)$/,
];

const TOOLS =
  "pytest|tox|mypy|ruff|pylint|flake8|pyright(?:config)?|bandit|nose2?|coverage|codecov|phpunit|phpstan|psalm|phpcs|phpmd|infection|behat|codecept(?:ion)?|grumphp|deptrac|cucumber|checkstyle|pmd|spotbugs|findbugs|detekt|sonar|testng|junit|biome|tslint|eslint|oxlint|jest|vitest|mocha|karma|cypress|playwright|stryker|nextest|clippy|rustfmt|deny|analysis_options|dart_test|cspell|bunfig|staticcheck|scalastyle|markdownlint|yamllint|lefthook|dprint|knip|stylelint";
const VENDORED_TOOL = new RegExp(String.raw`(?:^|/)(?:vendor|third_party)/(?:.*/)?(?:${TOOLS})(?:/|\.\w+$)`);
const SETTINGS: readonly RegExp[] = [
  /^(?:ts|js)config[\w.-]*\.json$/,
  /^\.[\w-]+rc(?:\.\w+)*$|^pylintrc$/,
  /^\.(?!git|docker)[\w-]*ignore$/,
  /^\.(?!coverage(?:\.|$)|[\w.-]*(?:cache|_status)$|testmon)[\w.-]*(?:lint|style|format|fmt|check|test|spec|cov|clang|rubocop|flake8|php[-_]cs|editorconfig|credo|scala|golangci)[\w-]*(?:\.\w+)*$/,
  new RegExp(
    String.raw`^\.?(?:${TOOLS})(?:[._-][\w.-]+)?\.(?:ini|cfg|toml|ya?ml|json[c5]?|xml|neon|properties|conf)(?:\.dist)?$|^(?:${TOOLS})[._-](?:conf(?:ig)?|env\w*|matchers?|polyfills?|preset|reporters?|runner|set-?up|transform)\.[cm]?[jt]s$`,
  ),
  /^(?:conftest|sitecustomize|usercustomize)\.py$|\.pth$|^\.pnpmfile\.c?js$|^pnpm-workspace\.yaml$|^\.(?:isort\.cfg|bandit)$|^\.tool-versions$|^\.?mise\.toml$|^\.Rprofile$/,
  /^(?!.*\b(?:example|sample|template|dist)\b)(?:\.env(?:\.\w+)*|[\w-]+\.env)$|^\.gitattributes$/,
  /^(?:[\w.-]+[._-])?(?:rules|thresholds?|baseline|exclu(?:de|sion)s?)\.(?:ini|toml|ya?ml|json[c5]?|txt)$/,
  /^(?:global[-_]?setup|set[-_]?up[-_]?(?:tests?|jest|vitest|env)|(?:tests?|jest|vitest)[-_.]?set[-_]?up)\.\w+$/i,
];
const GENERIC_CONFIG = /(?:^|\/)(?!app\.)[\w.-]+\.(?:config|conf|workspace|preset)\.(?:[cm]?[jt]s|json)$/;
const SETTINGS_PATH = /(?:^|\/)(?:\.cargo\/config(?:\.toml)?|\.(?:mvn|yarn|bundle)\/.+)$/;

const BUILD =
  /^(?:(?:GNU)?makefile(?:\.\w+)?|CMakeLists\.txt|CMakePresets\.json|\.?justfile|Taskfile(?:\.dist)?\.ya?ml|gradlew(?:\.bat)?|mvnw(?:\.cmd)?|(?:build|settings)\.gradle(?:\.kts)?|gradle(?:-wrapper)?\.properties|pom\.xml|Rakefile|(?:nox|fab)file\.py|dodo\.py|SCons(?:truct|cript)|meson\.build|meson_options\.txt|BUILD(?:\.bazel)?|WORKSPACE|MODULE\.bazel|(?:turbo|nx|lerna|rush|angular|project)\.json|(?:gulp|grunt|jake)file(?:\.\w+)*|Earthfile|Jenkinsfile|build\.(?:sbt|xml|ninja)|wscript|xmake\.lua|premake5\.lua|Directory\.Build\.\w+|(?:\.gitlab-ci|\.travis|azure-pipelines|bitbucket-pipelines|appveyor|cloudbuild|\.pre-commit-config)\.ya?ml)$|\.(?:mk|mak|cmake|bzl|rake)$/i;
const MIXED = /^(?:package\.json|composer\.json|deno\.jsonc?|pyproject\.toml|setup\.cfg|Cargo\.toml)$/;
const SCRIPT_FOLDER =
  /(?:^|\/)(?:scripts?|\.?ci|checks?|lint|verify|\.github|\.circleci|\.gitlab|\.buildkite|\.husky)\//;
const SCRIPT_WORDS = /^(?:checks?|checker|lint|verify|tests?|ci|harness|asserts?|assertions)$/;
/** What a name has to say when a gate names the file: any other is the program under work. */
const SAYS =
  /^(?:tests?|specs?|checks?|checker|verify|verification|lint|linter|ci|scripts?|e2e|expected|goldens?|fixtures?|snapshots?)$/;
/** New files that stand in for something else: a Makefile, a module or a header of a tool, a program. */
const SHADOWS: readonly RegExp[] = [
  /(?:^|\/)__mocks__\//,
  /(?:^|\/)(?:(?:GNUm|m)akefile|[^/]*\.mak?|[^/]*\.mk)$/,
  /(?:^|\/)(?:unittest|_?pytest|doctest|mypy|ruff|flake8|pylint|compileall|py_compile)(?:\.py|\/__(?:init|main)__\.py)$/,
  /(?:^|\/)(?:Test\/(?:More|Simple|Builder|Harness|Tester)|TAP\/\w+)\.pm$|(?:^|\/)(?:minitest|rspec|luaunit|busted|tcltest)\.\w+$/,
  /(?:^|\/)(?:tests?|spec|t)\/(?:[^/]*\/)*(?:(?:assert|std\w+|string|math|setjmp|signal|errno|limits|unistd)\.h|(?:diff|cmp|grep|test|sed|awk|cat|sh|bash|node|python3?|perl|ruby|make|cc|gcc|expr|env|true|false|timeout|git))$/,
];
