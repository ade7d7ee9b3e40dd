/** A word of a command; of one that is put together when it runs only the beginning is known. */
export interface Word {
  readonly text: string;
  readonly isKnown: boolean;
}

export type ShellPart =
  | { readonly is: "command"; readonly words: readonly Word[] }
  /** The brackets of a subshell: what is inside of them changes nothing outside. */
  | { readonly is: "open" }
  | { readonly is: "close" };

/** The simple commands of a shell text in their order, without redirections and comments. */
export function shellParts(text: string): readonly ShellPart[] {
  const parts: ShellPart[] = [];
  const writer = createWriter(parts);
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    switch (sign) {
      case " ":
      case "\t":
      case "\r":
        writer.endWord();
        break;
      case "\n":
      case ";":
      case "|":
        writer.endCommand();
        break;
      case "&":
        if (text[at + 1] === ">") writer.endWord();
        else writer.endCommand();
        break;
      case "(":
      case ")":
        writer.endCommand();
        parts.push({ is: sign === "(" ? "open" : "close" });
        break;
      case "<":
      case ">":
        // `<(…)` is a file that another command writes.
        if (text[at + 1] === "(") at = skipExpansion(text, at, writer);
        else {
          writer.redirect();
          while (/[<>&|]/.test(text.charAt(at + 1))) at += 1;
        }
        break;
      case "#":
        if (writer.isInWord()) writer.add(sign);
        else at = endOf(text, "\n", at) - 1;
        break;
      case "'": {
        const end = endOf(text, "'", at + 1);
        writer.add(text.slice(at + 1, end));
        at = end;
        break;
      }
      case '"':
        at = readQuoted(text, at + 1, writer);
        break;
      case "\\":
        at += 1;
        if (text[at] !== "\n") writer.add(text.charAt(at));
        break;
      case "$":
      case "`":
        at = skipExpansion(text, at, writer);
        break;
      default:
        writer.add(sign);
    }
  }
  writer.endCommand();
  return parts;
}

interface Writer {
  add(text: string): void;
  /** From here on the word depends on what happens when it runs. */
  cloud(): void;
  isInWord(): boolean;
  endWord(): void;
  endCommand(): void;
  /** The next word is a file to read or write. */
  redirect(): void;
}

function createWriter(parts: ShellPart[]): Writer {
  let words: Word[] = [];
  let word: { text: string; isKnown: boolean } | null = null;
  let isTarget = false;
  const current = (): { text: string; isKnown: boolean } => (word ??= { text: "", isKnown: true });
  const writer: Writer = {
    add(text) {
      const into = current();
      if (into.isKnown) into.text += text;
    },
    cloud() {
      current().isKnown = false;
    },
    isInWord: () => word !== null,
    endWord() {
      if (word === null) return;
      if (!isTarget) words.push(word);
      isTarget = false;
      word = null;
    },
    endCommand() {
      writer.endWord();
      isTarget = false;
      if (words.length > 0) parts.push({ is: "command", words });
      words = [];
    },
    redirect() {
      if (word !== null && /^\d+$/.test(word.text)) word = null;
      writer.endWord();
      isTarget = true;
    },
  };
  return writer;
}

/** Up to the closing quote; answers where that is. */
function readQuoted(text: string, from: number, writer: Writer): number {
  writer.add("");
  let at = from;
  for (; at < text.length && text[at] !== '"'; at += 1) {
    const sign = text.charAt(at);
    if (sign === "$" || sign === "`") at = skipExpansion(text, at, writer);
    else if (sign === "\\" && /["\\$`\n]/.test(text.charAt(at + 1))) {
      at += 1;
      if (text[at] !== "\n") writer.add(text.charAt(at));
    } else writer.add(sign);
  }
  return at;
}

/** A variable, or the output of another command, which is not read; answers where its last character is. */
function skipExpansion(text: string, at: number, writer: Writer): number {
  writer.cloud();
  if (text[at] === "`") return endOf(text, "`", at + 1);
  const open = text.charAt(at + 1);
  if (open !== "(" && open !== "{") return at;
  const close = open === "(" ? ")" : "}";
  let depth = 0;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === open) depth += 1;
    else if (text[end] === close) depth -= 1;
    if (depth === 0) return end;
  }
  return text.length;
}

function endOf(text: string, sign: string, from: number): number {
  const end = text.indexOf(sign, from);
  return end < 0 ? text.length : end;
}
