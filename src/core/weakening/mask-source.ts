/** How a language writes what is not code. */
export interface Syntax {
  readonly lineComments: readonly string[];
  readonly blockComments: readonly { readonly open: string; readonly close: string; readonly nests?: true }[];
  /** In the order in which they are tried. */
  readonly strings: readonly StringSyntax[];
  /** `/…/` may be a literal, as in JavaScript. */
  readonly hasRegexes?: true;
  /** A quote may be a lifetime, as in Rust: only these are characters. Sticky, with a bounded length. */
  readonly character?: RegExp;
}

interface StringSyntax {
  readonly open: string;
  readonly close: string;
  readonly escapes: boolean;
  readonly spansLines: boolean;
  /** `${…}` inside is code. */
  readonly interpolates?: true;
}

/** The place of a string's content in the text. */
export interface StringPlace {
  readonly from: number;
  readonly to: number;
  /** Behind the closing delimiter. */
  readonly end: number;
}

export interface Masked {
  /** As long as the text: comments and contents of strings are blank. Strings without interpolation are `"   "`. */
  readonly code: string;
  /** By the place where they begin. */
  readonly strings: ReadonlyMap<number, StringPlace>;
}

/** Blanks comments and contents of strings in one pass; what is never closed is no string. */
export function maskSource(text: string, syntax: Syntax): Masked {
  const scanner = new Scanner(text, syntax);
  return scanner.run();
}

/** An interpolation that is open: the string it stands in, and how many braces were opened since. */
interface Interpolation {
  readonly start: number;
  readonly string: StringSyntax;
  braces: number;
}

class Scanner {
  private readonly pieces: string[] = [];
  private readonly strings = new Map<number, StringPlace>();
  private readonly open: Interpolation[] = [];
  /** Up to where it is known that a delimiter does not close; keeps hostile text linear. */
  private readonly unclosedUntil = new Map<string, number>();
  private copiedUntil = 0;
  private at = 0;
  private lastCode = -1;
  private readonly text: string;
  private readonly syntax: Syntax;
  private readonly starters: ReadonlySet<string>;

  constructor(text: string, syntax: Syntax) {
    this.text = text;
    this.syntax = syntax;
    const opening = [...syntax.lineComments, ...syntax.blockComments.map(({ open }) => open)];
    this.starters = new Set(
      [...opening, ...syntax.strings.map(({ open }) => open), "/", "'", "{", "}"].map((one) => one.charAt(0)),
    );
  }

  run(): Masked {
    while (this.at < this.text.length) {
      const char = this.text.charAt(this.at);
      if (this.starters.has(char) && this.skipNonCode(char)) continue;
      if (char > " ") this.lastCode = this.at;
      this.at += 1;
    }
    this.pieces.push(this.text.slice(this.copiedUntil));
    return { code: this.pieces.join(""), strings: this.strings };
  }

  private skipNonCode(char: string): boolean {
    if (this.skipComment()) return true;
    if (this.open.length > 0 && (char === "{" || char === "}")) return this.countBrace(char);
    if (char === "'" && this.syntax.character !== undefined) return this.skipCharacter(this.syntax.character);
    if (this.skipString()) return true;
    return char === "/" && this.syntax.hasRegexes === true && this.skipRegex();
  }

  private skipComment(): boolean {
    if (this.syntax.lineComments.some((mark) => this.text.startsWith(mark, this.at))) {
      this.blank(this.at, this.endOfLine(this.at));
      return true;
    }
    const comment = this.syntax.blockComments.find(({ open }) => this.text.startsWith(open, this.at));
    if (comment === undefined) return false;
    this.blank(this.at, this.endOfComment(comment));
    return true;
  }

  private endOfComment({ open, close, nests }: Syntax["blockComments"][number]): number {
    let depth = 1;
    let at = this.at + open.length;
    while (at < this.text.length) {
      if (this.text.startsWith(close, at)) {
        depth -= 1;
        at += close.length;
        if (depth === 0) return at;
      } else if (nests === true && this.text.startsWith(open, at)) {
        depth += 1;
        at += open.length;
      } else at += 1;
    }
    return at;
  }

  private countBrace(char: string): boolean {
    const interpolation = this.open.at(-1);
    if (interpolation === undefined) return false;
    interpolation.braces += char === "{" ? 1 : -1;
    if (interpolation.braces > 0) return false;
    this.open.pop();
    this.at += 1;
    this.continueString(interpolation.start, interpolation.string);
    return true;
  }

  private skipCharacter(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.text)?.[0].length;
    if (length === undefined) return false;
    this.endString(this.at, this.at + 1, this.at + length - 1, this.at + length);
    return true;
  }

  private skipString(): boolean {
    const string = this.syntax.strings.find(({ open }) => this.text.startsWith(open, this.at));
    if (string === undefined) return false;
    // The r of r"…" is the end of a name elsewhere.
    if (/^\w/.test(string.open) && /\w/.test(this.text.charAt(this.at - 1))) return false;
    const start = this.at;
    if (string.interpolates === true) {
      this.at += string.open.length;
      this.continueString(start, string);
      return true;
    }
    const from = start + string.open.length;
    const to = this.closeOf(string, from);
    if (to === -1) return false;
    this.endString(start, from, to, to + string.close.length);
    return true;
  }

  private continueString(start: number, string: StringSyntax): void {
    const from = this.at;
    let at = from;
    while (at < this.text.length && !this.text.startsWith(string.close, at)) {
      if (this.text.startsWith("${", at)) {
        this.blank(from, at);
        this.open.push({ start, string, braces: 1 });
        this.at = at + 2;
        this.lastCode = at + 1;
        return;
      }
      at += this.text.charAt(at) === "\\" ? 2 : 1;
    }
    const to = Math.min(at, this.text.length);
    const end = Math.min(to + string.close.length, this.text.length);
    this.strings.set(start, { from: start + string.open.length, to, end });
    this.blank(from, to);
    this.at = end;
    this.lastCode = end - 1;
  }

  private closeOf({ close, escapes, spansLines }: StringSyntax, from: number): number {
    if ((this.unclosedUntil.get(close) ?? -1) >= from) return -1;
    let at = from;
    while (at < this.text.length) {
      if (this.text.startsWith(close, at)) return at;
      const char = this.text.charAt(at);
      if (char === "\n" && !spansLines) break;
      at += escapes && char === "\\" ? 2 : 1;
    }
    this.unclosedUntil.set(close, at);
    return -1;
  }

  private endString(start: number, from: number, to: number, end: number): void {
    this.strings.set(start, { from, to, end });
    this.pieces.push(
      this.text.slice(this.copiedUntil, start),
      '"',
      blanks(this.text.slice(start + 1, end - 1)),
    );
    this.pieces.push(end - start > 1 ? '"' : "");
    this.copiedUntil = end;
    this.at = end;
    this.lastCode = end - 1;
  }

  private skipRegex(): boolean {
    if ((this.unclosedUntil.get("/") ?? -1) >= this.at || !this.mayBeginRegex()) return false;
    let isInClass = false;
    for (let at = this.at + 1; ; at += 1) {
      const char = this.text.charAt(at);
      if (char === "" || char === "\n") {
        this.unclosedUntil.set("/", at);
        return false;
      }
      if (char === "\\") at += 1;
      else if (char === "[") isInClass = true;
      else if (char === "]") isInClass = false;
      else if (char === "/" && !isInClass) {
        this.endString(this.at, this.at + 1, at, at + 1);
        return true;
      }
    }
  }

  /** Elsewhere a slash divides, or closes a tag. */
  private mayBeginRegex(): boolean {
    if (this.lastCode === -1) return true;
    const before = this.text.slice(Math.max(0, this.lastCode - 8), this.lastCode + 1);
    return /[(,=:[!&|?{;+*%~^>-]$|(?:^|\W)(?:return|typeof|case|await|of|in)$/.test(before);
  }

  private blank(from: number, to: number): void {
    this.pieces.push(this.text.slice(this.copiedUntil, from), blanks(this.text.slice(from, to)));
    this.copiedUntil = to;
    this.at = to;
  }

  private endOfLine(from: number): number {
    const end = this.text.indexOf("\n", from);
    return end === -1 ? this.text.length : end;
  }
}

function blanks(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}
