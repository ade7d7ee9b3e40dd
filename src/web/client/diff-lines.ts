export interface DiffLine {
  readonly is: "added" | "removed" | "same" | "place" | "note";
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
}

const PLACE = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function diffLines(hunks: string): readonly DiffLine[] {
  let before = 0;
  let after = 0;
  return hunks
    .replace(/\n$/, "")
    .split("\n")
    .map((line): DiffLine => {
      const place = PLACE.exec(line);
      if (place !== null) {
        before = Number(place[1]);
        after = Number(place[2]);
        return { is: "place", old: null, new: null, text: line };
      }
      const text = line.slice(1);
      switch (line[0]) {
        case "+":
          return { is: "added", old: null, new: after++, text };
        case "-":
          return { is: "removed", old: before++, new: null, text };
        case "\\":
          return { is: "note", old: null, new: null, text };
        default:
          return { is: "same", old: before++, new: after++, text };
      }
    });
}

interface CodeWord {
  readonly is: "plain" | "comment" | "string" | "number" | "word";
  readonly text: string;
}

const KEYWORDS = new Set(
  (
    "abstract and as async await break case catch class const continue def default del do elif else enum export " +
    "extends false final finally fn for from func function if impl implements import in interface is lambda let " +
    "match mod mut new nil none None not null or package pass private protected pub public raise readonly return " +
    "self static struct super switch this throw trait true True False try type undefined use var void while with yield"
  ).split(" "),
);
const PIECE =
  /(\/\/.*|#(?![0-9a-fA-F]{3,8}\b)\s.*|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|\b(\d[\w.]*)\b|([A-Za-z_$][\w$]*)/g;
const LONGEST = 400;

/** Roughly, for any language: what is text, number, comment or keyword. */
export function codeWords(line: string): readonly CodeWord[] {
  if (line.length > LONGEST) return [{ is: "plain", text: line }];
  const words: CodeWord[] = [];
  let at = 0;
  for (const match of line.matchAll(PIECE)) {
    const is = kindOf(match);
    if (is === "plain") continue;
    if (match.index > at) words.push({ is: "plain", text: line.slice(at, match.index) });
    words.push({ is, text: match[0] });
    at = match.index + match[0].length;
  }
  if (at < line.length) words.push({ is: "plain", text: line.slice(at) });
  return words;
}

function kindOf([text, comment, string, number]: RegExpExecArray): CodeWord["is"] {
  if (comment !== undefined) return "comment";
  if (string !== undefined) return "string";
  if (number !== undefined) return "number";
  return KEYWORDS.has(text) ? "word" : "plain";
}
