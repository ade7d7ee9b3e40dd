/** Whether a file is a test, a test configuration, or may have tests inside (Rust sources have `#[cfg(test)]`). */
export function mayHoldTests(path: string): boolean {
  return isTestFile(path) || isTestConfiguration(path) || (path.endsWith(".rs") && !NOT_RUN.test(path));
}

/** Files that are read by tests, or belong to somebody else. */
const NOT_RUN =
  /(?:^|\/)(?:node_modules|vendor|third_party|__snapshots__|snapshots|fixtures|__fixtures__|testdata|__mocks__|target)\//;

const TEST_NAMES: readonly RegExp[] = [
  /(?:[._-](?:test|tests|spec|specs|e2e|cy|it)|(?:^|\/)(?:test|tests|spec))\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:__tests__|tests?|specs?|e2e|cypress)\/(?:[^/]+\/)*[^/]+\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests?)\.py$/,
  /_test\.go$/,
  /(?:^|\/)tests?\/(?:[^/]+\/)*[^/]+\.rs$|(?:^|_|\/)tests?\.rs$/,
  /(?:^|\/)src\/(?:\w*[tT]est)\/(?:[^/]+\/)*[^/]+\.(?:java|kt)$/,
  /(?:^|\/)(?:[^/]*(?:Test|Tests|TestCase|IT|Spec)|Test[^/]*)\.(?:java|kt|cs|php)$/,
  /_(?:spec|test)\.rb$|(?:^|\/)test_[^/]*\.rb$/,
  /(?:_(?:unit)?tests?|(?:^|\/)test_[^/]*|[a-z]Tests?)\.(?:cc|cpp|cxx)$/,
  /Tests?\.swift$|_test\.(?:exs|dart)$|\.bats$|\.feature$/,
];

export function isTestFile(path: string): boolean {
  if (NOT_RUN.test(path) || /\.d\.[cm]?ts$|\.snap$/.test(path)) return false;
  return !isTestConfiguration(path) && TEST_NAMES.some((name) => name.test(path));
}

const CONFIGURATIONS =
  /(?:^|\/)(?:(?:jest|vitest|vite|ava|playwright|cypress|karma|wdio)(?:[.-][\w-]+)*\.(?:config|conf)\.[cm]?(?:[jt]s|json)|vitest\.workspace\.[cm]?[jt]s|karma\.conf\.[cm]?[jt]s|\.mocharc(?:\.\w+)?|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|conftest\.py|pyproject\.toml|\.nycrc(?:\.\w+)?|\.c8rc(?:\.\w+)?|\.coveragerc|\.?codecov\.ya?ml|phpunit\.xml(?:\.dist)?|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|package\.json|nextest\.toml)$/;

export function isTestConfiguration(path: string): boolean {
  return CONFIGURATIONS.test(path) && !/(?:^|\/)node_modules\//.test(path);
}
