import type { Style } from "./style.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;

/** One line at the bottom of a terminal that is rewritten in place while an iteration runs. */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  #text: string | (() => string) | null = null;
  #frame = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(stream: NodeJS.WriteStream, style: Style) {
    this.#stream = stream;
    this.#style = style;
  }

  /** Plain text, or what tells it anew each time: it is cut to the width of the terminal before it is coloured. */
  show(text: string | (() => string)): void {
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  /** Takes the line away, so that something lasting can be printed in its place. */
  clear(): void {
    if (this.#text !== null) this.#stream.write("\r\x1b[2K");
  }

  stop(): void {
    this.clear();
    this.#text = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #draw(): void {
    if (this.#text === null) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = typeof this.#text === "string" ? this.#text : this.#text();
    const line = `  ${FRAMES[this.#frame]} ${text}`;
    const width = (this.#stream.columns || 80) - 1; // some terminals say 0
    this.#stream.write(`\r\x1b[2K${this.#style.dim(clip(line, width))}`);
  }
}

/** Made when the first line is drawn: it is slow, and only a terminal needs it. */
let characters: Intl.Segmenter | null = null;

function clip(text: string, width: number): string {
  characters ??= new Intl.Segmenter();
  return Array.from(characters.segment(text), ({ segment }) => segment)
    .slice(0, width)
    .join("");
}
