/** How files end that hold code, as part of a pattern. */
export const CODE_ENDING =
  "(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|cs|fs|php|scala|groovy|swift|dart|exs?|erl|hs|ml|clj[cs]?|lua|p[lm]|t|tcl|awk|jl|r|nim|zig|cr|c|cc|cpp|cxx|h|hh|hpp|mm?|sh|bash|zsh|fish|ps1|bats|feature|robot|vue|svelte)";
export const IS_CODE = new RegExp(String.raw`\.${CODE_ENDING}$`, "i");

/**
 * Whether a test file only gained lines, and none of them can switch an old test off or change what it tests: new
 * tests, assertions and rows of tables. In doubt the answer is no, which costs a second pass of the gates.
 */
export function onlyGains(path: string, before: string, after: string): boolean {
  if (path.endsWith(".snap")) return before !== after && hasAllEntries(before, after);
  // A new line of a data file may be the expected result of an old test.
  if (!IS_CODE.test(path)) return false;
  const runs = findGains(before.split("\n"), after.split("\n"));
  if (runs === null || runs.length === 0) return false;
  const known = new Set(before.match(/[\w$]+/g));
  return runs.every((run) => isHarmless(run, known));
}

/** Whether a new test file may change the tests beside it: it gives a new meaning to what they use. */
export function mayReachOthers(text: string): boolean {
  return text.split("\n").some((line) => {
    if (line.length > LINE_LENGTH_MAX || /^(?:BEGIN\b|\S.*\b(?:setattr|sys\.modules|exit)\b)/.test(line))
      return true;
    if (/^[\w$]+(?:\.[\w$]+)+\s*=(?!=)/.test(line)) return true;
    // What a file imports has its name in that file only.
    if (/^(?:import|from|use|using)\b|=\s*(?:await\s+import|require)\s*\(/.test(line)) return false;
    return namesIn(line).some((name) =>
      /^(?:assert|expect|check|verify|fail|test$|it$|describe$|ok$|is$|is_)/i.test(name),
    );
  });
}

function hasAllEntries(before: string, after: string): boolean {
  const entriesOf = (text: string): readonly string[] =>
    text.split(/^(?=exports\[)/m).map((one) => one.trim());
  const now = new Set(entriesOf(after));
  return entriesOf(before).every((entry) => now.has(entry));
}

/** The new lines, as they stand together; null when an old line is missing. */
function findGains(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly string[])[] | null {
  const runs: string[][] = [];
  let at = 0;
  let run: string[] | null = null;
  for (const line of after) {
    if (at < before.length && line === before[at]) {
      at += 1;
      run = null;
    } else if (run === null) runs.push((run = [line]));
    else run.push(line);
  }
  return at < before.length ? null : runs;
}

/** Words that reach beyond the block in which they stand. */
const REACHES_OUT =
  /skip|only|todo|xfail|ignor|disabl|pending|mock|stub|patch|spy|fake|overrid|monkey|exclu|deselect|filter|focus|fixture|autouse|retr(?:y|ies)|flaky|timeout|set_?up|tear_?down|before|hook|global|proto|reload|inject|stop|exit|abort|setattr|delattr|plan|load_tests|pytest_\w|fail(?:s|ure|ing)|panic|after_?(?:each|all|run)|__\w+__|\bset [+-]|\|\|\s*(?:true|:)|<<|\b[xf](?:it|describe|test|context|specify)\b|\b(?:quit|die|kill|trap|eval|exec|source|define|undef|alias|main|done_testing)\b|^\s*(?:#\s*(?:if|else|end|include|pragma)|=\w)/i;
/** Words that matter to the old lines around them. */
const REACHES_AROUND =
  /\b(?:pass|return|throw|raise|except|catch|rescue|ensure|finally|yield|goto|break|continue|if|unless|else|elif|elsif|switch|while|until|for|case|when|try|with|begin|delete|del|unset|local)\b/i;
const OPENS_TEST =
  /\b(?:def|func?|function|fn|class|void|sub|proc|test\w*|it|describe|context|specify|scenario|should|spec|suite|mod|given|property)\b|=>|\bTEST|\bTest|t\.Run/i;
/** What else may stand at the level of old code. */
const HARMLESS: readonly RegExp[] = [
  /^[\])}]+[;,)]*$/,
  /^(?:\/\/|#(?!\[|!)|--|;|%)/,
  /^(?:import|from|use|using)\b(?!.*\*)/,
  /^(?:const|let|var)\s[\w${},\s]+=\s*(?:await\s+)?(?:require|import)\(/,
  /^(?:await\s+)?(?:[\w$]+\.)*(?:assert|expect|should|check|verify|require\.|(?:ok|is|isnt|like|is_deeply|test|it)\b)\w*\s*[(!."' ]/i,
  /^[[{("'].*,$/,
];
/** A mark of what follows it, which may be an old test; one that only says that it is a test does no harm there. */
const MARKS = /^(?:@[\w.]+(?:\([^)]*\))?|#\[[\w:]+\]|\[[A-Z]\w*\])$/;
const MARKS_TEST = /^(?:@Test|#\[(?:\w+::)?test\]|\[(?:Fact|Test|TestMethod)\])$/;
const ENDS_BLOCK = /^(?:end|fi|done|esac)$/;
const LINE_LENGTH_MAX = 1_000;

function isHarmless(run: readonly string[], known: ReadonlySet<string>): boolean {
  const lines = run.filter((line) => line.trim() !== "");
  if (lines.some((line) => line.length > LINE_LENGTH_MAX) || !isBalanced(run.join("\n"))) return false;
  const indents = lines.map((line) => line.length - line.trimStart().length);
  const outer = Math.min(...indents);
  let open = 0;
  return lines.every((line, at) => {
    // Titles are full of words that mean nothing to a machine.
    const words = line.trim().replaceAll(/(["'`])(?:(?!\1).)*\s(?:(?!\1).)*\1/g, "$1$1");
    if (REACHES_OUT.test(words)) return false;
    if ((indents[at] ?? 0) > outer) return true;
    if (REACHES_AROUND.test(words) || namesIn(words).some((name) => known.has(name))) return false;
    const opensBlock = (indents[at + 1] ?? 0) > outer && OPENS_TEST.test(words);
    open += opensBlock ? 1 : 0;
    if (ENDS_BLOCK.test(words)) return --open >= 0;
    if (MARKS.test(words)) return at + 1 < lines.length || MARKS_TEST.test(words);
    return opensBlock || HARMLESS.some((pattern) => pattern.test(words));
  });
}

/** Names to which a line gives a meaning. */
function namesIn(line: string): readonly string[] {
  const imported = /^(?:import|from|use|using)\b(?:.*\bimport\b)?(.*)$/.exec(line)?.[1];
  if (imported !== undefined) {
    const names = imported.replace(/\bfrom\b.*$/, "").matchAll(/([\w$]+)\s*(?=[,;})]|$)/g);
    return [...names].map(([, name = ""]) => name);
  }
  const defined =
    /^(?:(?:export|async|static|public|private|protected|final|pub|default|inline)\s+)*(?:def|function|func|fun|fn|class|const|let|var|val|sub|proc|type|struct|module|object|interface|enum|my|our|void|int|auto)\s+([\w$]+)/.exec(
      line,
    ) ?? /^([\w$]+)\s*\(\)\s*\{/.exec(line);
  const assigned = /^[&*]?([\w$.>[\]'"-]+)\s*[-+*/|&:?]{0,2}=(?![=>~])/.exec(line);
  return [...(defined?.slice(1) ?? []), ...(assigned?.[1]?.match(/[\w$]+/g) ?? [])];
}

/** A run that opens what it does not close changes the meaning of the old lines after it. */
function isBalanced(text: string): boolean {
  const count = (part: string): number => text.split(part).length - 1;
  const isPaired = ["()", "[]", "{}"].every(([open = "", close = ""]) => count(open) === count(close));
  const isQuoted = ['"""', "'''", "`", '"'].every((quote) => count(quote) % 2 === 0);
  return isPaired && isQuoted && count("/*") === count("*/") && count("<!--") === count("-->");
}
