import type { Standing } from "./split-lines.ts";

export interface WindowLine {
  readonly text: string;
  readonly standing: Standing;
}

/** What a line costs besides its characters. */
const LINE_COST = 2;
/** Of several lines together so many characters may be blank lines that do not count. */
const BLANK_MAX = 4;

/** Keeps the last lines of a text, up to a total length; of a longer line its end, of blank lines in a row one. */
export function createTextWindow(length: number) {
  const kept: WindowLine[] = [];
  let cost = 0;
  let wasBlank = false;
  /** Drops what has certainly left the window, now and then: output may be hundreds of megabytes. */
  const trim = (): void => {
    let from = 0;
    for (const one of kept) {
      if (cost - costOf(one) <= length) break;
      cost -= costOf(one);
      from += 1;
    }
    kept.splice(0, from);
  };
  return {
    /** One line, or several that stand alike with a newline between them. */
    add(text: string, standing: Standing): void {
      const isBlank = /^\n*$/.test(text);
      if (isBlank && wasBlank) return;
      wasBlank = isBlank;
      const lines = isBlank ? "" : text.includes("\n\n\n") ? text.replaceAll(/\n{3,}/g, "\n\n") : text;
      const one = { text: lines.slice(-length), standing };
      kept.push(one);
      cost += costOf(one);
      if (cost > 2 * length) trim();
    },
    lines(): readonly WindowLine[] {
      const all = kept.flatMap(({ text, standing }) =>
        text.split("\n").map((line) => ({ text: endOf(line, length - LINE_COST), standing })),
      );
      const lines = all.filter(({ text }, index) => text !== "" || all[index - 1]?.text !== "");
      let left = length;
      return lines.slice(lines.findLastIndex(({ text }) => (left -= text.length + LINE_COST) < 0) + 1);
    },
  };
}

/** At most what its lines cost. */
function costOf({ text }: WindowLine): number {
  return Math.max(1, text.length - BLANK_MAX);
}

function endOf(line: string, length: number): string {
  return line.slice(Math.max(0, line.length - length));
}
