import { maskSource } from "./mask-source.ts";
import { python } from "./python.ts";

/** In which ways a `conftest.py` keeps tests from running or failing, each as often as it does. */
export function conftestHooks(text: string): readonly string[] {
  const { code } = maskSource(text, python.syntax);
  const found = WAYS.flatMap(({ pattern, what }) => Array.from(code.matchAll(pattern), () => what));
  const isOptIn = OPT_IN.test(code);
  const skips = Array.from(code.matchAll(SKIPPING)).flatMap((match) => {
    if (match[0].startsWith("add_marker")) return isOptIn ? [] : [SKIP];
    return isForEachTest(code, match.index) ? [SKIP] : [];
  });
  // What a report says stands in a string.
  const reports = code.includes("pytest_runtest_makereport") || code.includes("TestReport");
  const passed = reports ? Array.from(text.matchAll(PASSED), () => RESULT) : [];
  return [...found, ...skips, ...passed];
}

const SKIP = "a hook in conftest.py skips them";
const RESULT = "a hook in conftest.py changes their result";
const WAYS: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  {
    pattern: /\bpytest_deselected\b|\bitems\[:\]\s{0,9}=|\bpytest_ignore_collect\b|\bitems\.clear\(/g,
    what: SKIP,
  },
  {
    pattern: /\b(?:os\._exit|sys\.exit|pytest\.exit)\(\s{0,9}0?\s{0,9}\)/g,
    what: "conftest.py ends the run",
  },
  {
    pattern: /\bexitstatus\s{0,9}=\s{0,9}(?:0\b|(?:pytest\.)?ExitCode\.OK\b)|\.excinfo\s{0,9}=\s{0,9}None\b/g,
    what: RESULT,
  },
];
const SKIPPING = /add_marker\([^\n]{0,100}\b(?:skip|skipif|xfail)\b|\bpytest\.skip\(/g;
const PASSED = /\boutcome\s{0,9}=\s{0,9}["'](?:passed|skipped)["']/g;

/** Tests that somebody marked, or did not ask for: a documented use. */
const OPT_IN = /\bgetoption\(|\.keywords\b|\bget_closest_marker\(/;

const FUNCTION_LENGTH_MAX = 1_500;

/** In a fixture that each test gets, in a hook, or outside of functions; one that a test asks for may skip it. */
function isForEachTest(code: string, at: number): boolean {
  const before = code.slice(Math.max(0, at - FUNCTION_LENGTH_MAX), at);
  const definition = Math.max(before.lastIndexOf("\ndef "), before.lastIndexOf("\nasync def "));
  if (before.endsWith("\n") || at === 0) return true;
  if (definition === -1) return /^(?:async )?def\s{1,9}pytest_/.test(before);
  const head = before.slice(definition, definition + 80);
  const decorators = before.slice(Math.max(0, definition - 200), definition);
  return (
    /def\s{1,9}pytest_/.test(head) || /@[^@]{0,150}\bautouse\s{0,9}=\s{0,9}True\b[^@]{0,60}$/.test(decorators)
  );
}
