import { conftestHooks } from "./conftest-hooks.ts";
import type { FileVersions, Weakening } from "./find-weakened-tests.ts";
import { isNarrower, leavesOutDefault } from "./is-narrower.ts";
import { readSettings, type Settings } from "./read-settings.ts";
import { isTestConfiguration, isTestFile } from "./test-files.ts";

/** Configuration by which fewer tests run, or less must pass. */
export function compareConfigurations(files: readonly FileVersions[]): readonly Weakening[] {
  const configurations = files.filter(({ path }) => isTestConfiguration(path));
  const isMoved = configurations.some(({ before, after }) => after !== null && before !== after);
  return configurations.flatMap(({ path, before, after }) => {
    const found = (what: string): Weakening => ({ path, kind: "configuration", what });
    if (before === null) return after === null ? [] : newFindings(path, after, files).map(found);
    if (after === null)
      return ONLY_FOR_TESTS.test(path) && !isMoved && !useOtherRunner(path, files)
        ? [found("the test configuration is gone")]
        : [];
    const [was, is] = [relevant(path, before), relevant(path, after)];
    const sentences = [
      ...exclusions(was, is, addedPaths(files)),
      ...selections(was, is, files),
      ...switches(was, is),
      ...thresholdFindings(path, was, is, configurations),
    ];
    const hooks = path.endsWith("conftest.py") ? newHooks(before, after) : [];
    return [...new Set([...sentences, ...hooks])].map(found);
  });
}

const RUNNER_IMPORTS = {
  jest: /\bfrom ["'](?:vitest|node:test|bun:test)["']|require\(["']node:test["']\)/,
  vitest: /\bfrom ["'](?:@jest\/globals|node:test|bun:test)["']|require\(["']node:test["']\)/,
} as const;

/** Tests that import another runner need no configuration of this one. */
function useOtherRunner(path: string, files: readonly FileVersions[]): boolean {
  const runner = /(?:^|\/)(jest|vitest)[^/]*$/.exec(path)?.[1];
  if (runner !== "jest" && runner !== "vitest") return false;
  return files.some(({ after }) => after !== null && RUNNER_IMPORTS[runner].test(after));
}

/** What a configuration keeps from running that is there for the first time. */
function newFindings(path: string, text: string, files: readonly FileVersions[]): readonly string[] {
  if (!ONLY_FOR_TESTS.test(path) && !OF_OTHERS.test(path)) return [];
  const hooks = path.endsWith("conftest.py") ? newHooks("", text) : [];
  const is = relevant(path, text);
  const was = excludedElsewhere(is, files);
  const selected = selections(new Map(), is, files);
  const excludes = isNewRunner(path, files)
    ? []
    : exclusions(was, is, [...addedPaths(files), ...OF_OTHER_RUNNERS]);
  return [...new Set([...excludes, ...selected, ...hooks])];
}

const OF_OTHERS = /(?:^|\/)(?:conftest\.py|pyproject\.toml|setup\.cfg|tox\.ini)$/;

/** Where other runners have their tests, and examples their own. */
const OF_OTHER_RUNNERS = [
  "e2e",
  "playwright",
  "cypress",
  "integration",
  "examples",
  "benchmarks",
  "templates",
];

function addedPaths(files: readonly FileVersions[]): readonly string[] {
  return files.filter(({ before }) => before === null).map(({ path }) => path);
}

/** The same settings with what other configurations excluded before. */
function excludedElsewhere(is: Settings, files: readonly FileVersions[]): Settings {
  const values = files.flatMap(({ path, before }) =>
    before === null || !isTestConfiguration(path)
      ? []
      : [...relevant(path, before)]
          .filter(([key]) => EXCLUDING.test(key) || OPTIONS.test(key))
          .flatMap(([, one]) => one),
  );
  return new Map([...is.keys()].map((key) => [key, values]));
}

/** A runner that comes along with its configuration may leave tests to the one before. */
function isNewRunner(path: string, files: readonly FileVersions[]): boolean {
  const runner = /(?:^|\/)(vitest|jest|ava|playwright|cypress|karma)[^/]*$/.exec(path)?.[1];
  if (runner === undefined) return false;
  return files.some(
    ({ path: other, before, after }) =>
      /(?:^|\/)package\.json$/.test(other) &&
      after?.includes(`"${runner}"`) === true &&
      before?.includes(`"${runner}"`) !== true,
  );
}

function newHooks(before: string, after: string): readonly string[] {
  const known = Map.groupBy(conftestHooks(before), (what) => what);
  const now = Map.groupBy(conftestHooks(after), (what) => what);
  return [...now]
    .filter(([what, all]) => all.length > (known.get(what)?.length ?? 0))
    .map(([what]) => excluded(what));
}

const ONLY_FOR_TESTS =
  /(?:^|\/)(?:(?:jest|vitest|ava|playwright|cypress|karma)[^/]*|\.mocharc[^/]*|\.?pytest\.ini|\.nycrc[^/]*|\.c8rc[^/]*|\.?codecov\.ya?ml|phpunit\.xml[^/]*)$/;

/** Files with other purposes: which of their settings are about tests. */
const RELEVANT: readonly (readonly [file: RegExp, setting: RegExp])[] = [
  [/(?:^|\/)package\.json$/, /^(?:jest|mocha|ava|nyc|c8|vitest)\./],
  [/(?:^|\/)pyproject\.toml$/, /^tool\.(?:pytest|coverage)\b/],
  [/(?:^|\/)(?:setup\.cfg|tox\.ini)$/, /^(?:tool:)?pytest\b|^coverage:|^testenv\b/],
  [/(?:^|\/)Cargo\.toml$/, /(?:^|\.)(?:test|autotests|doctest)$/],
  [/(?:^|\/)vite\.config\.\w+$/, /(?:^|\.)test\./],
  [/\.gradle(?:\.kts)?$/, /test/i],
];

function relevant(path: string, text: string): Settings {
  const settings = readSettings(path, text);
  const wanted = RELEVANT.find(([file]) => file.test(path))?.[1];
  return wanted === undefined ? settings : new Map([...settings].filter(([key]) => wanted.test(key)));
}

const EXCLUDING =
  /(?:^|\.)(?:testPathIgnorePatterns|modulePathIgnorePatterns|exclude|excludes|excludedGroups|testIgnore|ignore|norecursedirs|collect_ignore(?:_glob)?(?:\.\w+)?|testNamePattern|grep|fgrep|grepInvert|filter)$/;
const NOT_ABOUT_TESTS =
  /(?:^|[.:])(?:coverage|nyc|c8|optimizeDeps|deps|server|watch|watcher|build|esbuild|plugins?|preprocessors|typescript|codecov|fixes|dependencies|implementation)(?:[.:]|$)/;
const NEVER_TESTS =
  /node_modules|(?:^|[/*\\])(?:dist|build|out|coverage|target|venv|vendor|fixtures?|__fixtures__|testdata)(?:[/*\\]|$)|(?:^|[/\\])\.[\w*-]+(?:[/*\\]|$)|\.d\.ts|^configDefaults|^defaultExclude|^\.{3}/;
const OPTIONS = /(?:addopts|commands|args)$/i;
const OPTION =
  /--(?:ignore(?:-glob)?|deselect|testPathIgnorePatterns|exclude)[= ]+[^\s"',]+|(?<!\S)-[km][= ]?["']?not\s[^"']{1,80}|(?<!\S)-k[= ]?["']?\w[^"']{0,80}|--co(?:llect-only)?(?![\w-])|--setup-(?:only|plan)|--passWithNoTests/g;

function exclusions(was: Settings, is: Settings, added: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [path, values] of is) {
    const known = new Set(was.get(path));
    if (EXCLUDING.test(path) && !NOT_ABOUT_TESTS.test(path)) {
      const fresh = values.find((value) => !known.has(value) && excludesTests(value, added));
      if (fresh !== undefined) found.push(excluded(`${lastOf(path)} (${fresh})`));
    }
    if (!OPTIONS.test(path)) continue;
    const options = new Set(optionsIn(was.get(path) ?? []));
    const fresh = optionsIn(values).find((option) => !options.has(option));
    if (fresh !== undefined) found.push(excluded(fresh));
  }
  return found;
}

const VALUE_LENGTH_MAX = 100;
const excluded = (what: string): string =>
  `tests are excluded now: ${what.slice(0, VALUE_LENGTH_MAX).toWellFormed()}`;
const lastOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/** Tests that are new themselves may belong to another runner. */
function excludesTests(value: string, added: readonly string[]): boolean {
  if (NEVER_TESTS.test(value) || /^(?:undefined|null|false|true|path|join|\.+|append|extend)$/.test(value))
    return false;
  const literal = value.replaceAll(/<rootDir>|[*\\^$()?]/g, "").replaceAll(/^[./]+|\/+$/g, "");
  return literal.length < 3 || !added.some((path) => path.includes(literal));
}

function optionsIn(values: readonly string[]): readonly string[] {
  return values.join(" ").match(OPTION) ?? [];
}

const SELECTING =
  /(?:^|\.)(?:testMatch|testRegex|include|includes|testpaths|python_(?:files|classes|functions)|specs?|specPattern|testDir|roots|files|directory)$/;

function selections(was: Settings, is: Settings, files: readonly FileVersions[]): readonly string[] {
  const found: string[] = [];
  const added = addedPaths(files);
  for (const [path, values] of is) {
    if (!SELECTING.test(path) || NOT_ABOUT_TESTS.test(path)) continue;
    const before = was.get(path);
    if (before === undefined) {
      const isNew = (value: string): boolean =>
        added.some((one) => one.endsWith(value.replace(/^[./]+/, "")));
      const isNarrow =
        /testMatch|include|spec/.test(path) &&
        values.every((value) => !/[*(\\$]|^[\w.]+$/.test(value) && !isNew(value));
      if (isNarrow || leavesOutDefault(path, values)) found.push(`only these tests run now: ${lastOf(path)}`);
    } else if (isNarrower(before, values) && !haveMoved(files, values))
      found.push(`fewer tests are selected now: ${lastOf(path)}`);
  }
  return found;
}

/** Whether tests went to where they are looked for. */
function haveMoved(files: readonly FileVersions[], places: readonly string[]): boolean {
  const isThere = (path: string): boolean =>
    places
      .slice(0, PLACES_MAX)
      .some((place) => !place.includes("*") && `/${path}`.includes(`/${place.replace(/^\.\/|\/$/g, "")}/`));
  const tests = files.filter(({ path }) => isTestFile(path));
  return (
    tests.some(({ path, before }) => before === null && isThere(path)) &&
    tests.some(({ path, after }) => after === null && !isThere(path))
  );
}

const PLACES_MAX = 50;

const LOOSENING =
  /(?:^|\.)(?:passWithNoTests|skipTests|maven\.test\.skip|skip|testFailureIgnore|ignoreFailures|dangerouslyIgnoreUnhandledErrors|invert)$/;
const NEEDED =
  /(?:^|\.)(?:check-coverage|checkCoverage|forbidOnly|test|autotests|doctest|enabled|isEnabled)$/;

function switches(was: Settings, is: Settings): readonly string[] {
  const found: string[] = [];
  for (const [path, values] of is) {
    const before = was.get(path);
    if (LOOSENING.test(path) && values.includes("true") && before?.includes("true") !== true)
      found.push(`less must pass now: ${lastOf(path)}`);
    if (NEEDED.test(path) && values.includes("false") && before?.includes("false") !== true)
      found.push(`less must pass now: ${lastOf(path)} is false`);
  }
  return found;
}

const THRESHOLD = /(?:^|\.)(?:branches|functions|lines|statements|fail_under|target)$/;
const ABOUT_COVERAGE = /threshold|coverage|nyc|c8|status/i;

function thresholdFindings(
  file: string,
  was: Settings,
  is: Settings,
  configurations: readonly FileVersions[],
): readonly string[] {
  const found: string[] = [];
  for (const [path, values] of was) {
    const before = Number.parseFloat(values[0] ?? "");
    const isThreshold =
      THRESHOLD.test(path) && (ABOUT_COVERAGE.test(path) || /nycrc|c8rc|coveragerc/.test(file));
    if (!isThreshold || !(before > 0)) continue;
    const after = Number.parseFloat(is.get(path)?.[0] ?? "");
    const name = `the coverage threshold ${lastOf(path)}`;
    if (after < before) found.push(`${name} went from ${before} to ${after}`);
    else if (Number.isNaN(after) && !is.has(path) && !isElsewhere(path, before, configurations))
      found.push(`${name} of ${before} is gone`);
  }
  return found;
}

/** Whether another place asks for as much, since settings move. */
function isElsewhere(path: string, least: number, configurations: readonly FileVersions[]): boolean {
  return configurations.some(({ path: file, after }) =>
    after === null
      ? false
      : [...relevant(file, after)].some(
          ([other, values]) => lastOf(other) === lastOf(path) && Number.parseFloat(values[0] ?? "") >= least,
        ),
  );
}
