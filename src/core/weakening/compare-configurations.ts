import type { FileVersions, Weakening } from "./find-weakened-tests.ts";
import { readSettings, type Settings } from "./read-settings.ts";
import { isTestConfiguration } from "./test-files.ts";

/** Configuration by which fewer tests run, or less must pass. */
export function compareConfigurations(files: readonly FileVersions[]): readonly Weakening[] {
  const configurations = files.filter(({ path }) => isTestConfiguration(path));
  const isMoved = configurations.some(({ before, after }) => after !== null && before !== after);
  const added = files.filter(({ before }) => before === null).map(({ path }) => path);
  return configurations.flatMap(({ path, before, after }) => {
    const found = (what: string): Weakening => ({ path, kind: "configuration", what });
    if (before === null) return [];
    if (after === null)
      return ONLY_FOR_TESTS.test(path) && !isMoved ? [found("the test configuration is gone")] : [];
    const [was, is] = [relevant(path, before), relevant(path, after)];
    const thresholds = thresholdFindings(path, was, is, configurations);
    const sentences = [
      ...exclusions(was, is, added),
      ...selections(was, is),
      ...switches(was, is),
      ...thresholds,
    ];
    const hooks = path.endsWith("conftest.py") ? hookFindings(before, after) : [];
    return [...new Set([...sentences, ...hooks])].map(found);
  });
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
  /node_modules|(?:^|[/*\\])(?:dist|build|out|coverage|target|venv|vendor|fixtures?|__fixtures__|testdata|\.[\w*-]+)(?:[/*\\]|$)|\.d\.ts|^configDefaults|^defaultExclude/;
const OPTION =
  /--(?:ignore(?:-glob)?|deselect|testPathIgnorePatterns|exclude)[= ]+[^\s"',]+|(?<!\S)-[km][= ]?["']?not\s[^"']{1,80}|--collect-only|--passWithNoTests/g;

function exclusions(was: Settings, is: Settings, added: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [path, values] of is) {
    const known = new Set(was.get(path));
    if (EXCLUDING.test(path) && !NOT_ABOUT_TESTS.test(path)) {
      const fresh = values.find((value) => !known.has(value) && excludesTests(value, added));
      if (fresh !== undefined) found.push(excluded(`${lastOf(path)} (${fresh})`));
    }
    if (!/(?:addopts|commands|args)$/i.test(path)) continue;
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

function selections(was: Settings, is: Settings): readonly string[] {
  const found: string[] = [];
  for (const [path, values] of is) {
    if (!SELECTING.test(path) || NOT_ABOUT_TESTS.test(path)) continue;
    const before = was.get(path);
    if (before === undefined) {
      const isNarrow =
        /testMatch|include|spec/.test(path) && values.every((value) => !/[*(\\$]|^[\w.]+$/.test(value));
      if (isNarrow) found.push(`only these tests run now: ${lastOf(path)}`);
    } else if (isNarrower(before, values)) found.push(`fewer tests are selected now: ${lastOf(path)}`);
  }
  return found;
}

function isNarrower(before: readonly string[], after: readonly string[]): boolean {
  const removed = before.filter((value) => !after.includes(value));
  const added = after.filter((value) => !before.includes(value));
  if (removed.length === 0) return false;
  if (removed.length > added.length && !added.some((value) => value.includes("{"))) return true;
  const lostWildcards =
    removed.every((value) => value.includes("*")) && added.every((value) => !/[*(]/.test(value));
  return (
    lostWildcards ||
    added.every((value) => removed.some((old) => value.startsWith(`${old.replace(/\/$/, "")}/`)))
  );
}

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

const HOOK =
  /add_marker\([^\n]{0,100}\b(?:skip|skipif|xfail)\b|\bpytest_deselected\b|\bitems\[:\]\s{0,9}=|\bpytest_ignore_collect\b|\bpytest\.skip\(/g;

function hookFindings(before: string, after: string): readonly string[] {
  const count = (text: string): number => text.match(HOOK)?.length ?? 0;
  return count(after) > count(before) ? [excluded("a hook in conftest.py skips them")] : [];
}
