/** Whether a line is about limits or logins, but not a refusal: code, a test, a log of somebody's program, prose. */
export function isOtherMatter(line: string): boolean {
  const words = line.replaceAll(ADDRESSES, "");
  return OTHERS.some((shape) => shape.test(words));
}

/** Their paths speak of docs and limits, whatever the line says. */
const ADDRESSES = /\b[a-z]{2,10}:\/\/[^\s"')\]}]{1,300}/gi;

const OTHERS: readonly RegExp[] = [
  // Another attempt follows, and if all fail the last message says so.
  /\battempt["':\s]{1,3}\d{1,3}\b|\breconnecting\b|\bretrying\b|\bwill retry\b/i,
  // A diff, a comment, a list, a quotation, a table, a numbered line.
  /^\s*(?:[+<>|#]|-(?:\s|-|\w)|@@|\/\/|\/?\*|"""|(?!4\d\d\b)\d{1,6}(?:\s{0,4}[|│→]|:(?!\d\d)|[.)-]\s))/,
  // Other programs, which have limits and logins of their own.
  /^\s*(?:fatal|remote|git|gh|npm|npm err!|npm error|yarn|pnpm|pip|docker|cargo|curl|ssh)\b[!: ]/i,
  // A single field of an object in source code or in a dump: what it belongs to says more.
  /^\s*(?:(?!\w{0,30}error\b)[a-z_]\w{0,40}\s{0,4}[:=]\s{0,4}(?:\d{1,9}|(["'`])[^"'`]{0,500}\1),?|["']\w{1,40}["']\s{0,2}:\s{0,4}\d{1,9},?)\s*$/i,
  // Source code.
  /\bthrow new\b|\bnew \w{0,40}(?:Error|Exception|Response)\(|\b(?:expect|assert\w{0,20}|it|test|describe|raises|fail|describe\.each)\s?\(|\b(?:const|let|var|return|function|await|import|export|def|raise|class|case|elif|async|fn|func|pub|private|public)\s(?=[\w{('"$])|\bconsole\.|\bif \(|=>|[!=]==?(?:\s|$)|;\s*$/,
  // The report of a test.
  /[✓✔☑✅›]|^\s*(?:PASS|FAIL|FAILED|ok|not ok|---)\b\s|::test|\bassert(?:ion(?:error)?)?\b|\(\d{1,9}(?:\.\d{1,3})? ?m?s\)\s*$|\s\d{1,9} ?ms\s*$/i,
  // A file of the project by its relative path, or a package.
  /(?:^|[\s`'"(])(?!\/)[\w@.-][\w@./-]{0,200}\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|php|cs|c|h|cpp|md|mdx|vue|sql|html|css)\b/,
  /@[\w-]{1,60}\/[\w-]{1,60}/,
  // The log of a server, and whom it limits.
  /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s{1,4}["'`]?\/|\b(?:INFO|DEBUG|TRACE|VERBOSE)\b|HTTP\/\d(?:\.\d)?"/,
  /\bfor (?:the )?(?:ip|user|client|host|address|route|endpoint|tenant|customer|key)\b|\bfor \d{1,3}\.\d{1,3}\.\d/i,
  // Somebody tells what was done, or what happens when.
  /\bI\b|\bI'(?:ve|ll|m|d)\b|\b(?:We|we) (?:now|should|can|need|could|will)\b/,
  /\b(?:add(?:ed|s|ing)|implement(?:s|ed|ing|ation)?|handles?|handled|returns|raises|throws|emits|shows|displays|should|would be|middleware|documentation|documented|readme|changelog|mock(?:s|ed)?|stub(?:s|bed)?|simulat\w{1,6}|expect(?:s|ed)|tests?|tested|testing|fixed|fixes|covers?|covered|verif(?:ies|ied)|ensures|limiter|responds?|answers|endpoint|users|clients|callers|scenario|feature)\b/i,
];
