import type { Word } from "./shell-words.ts";

/** What `make` is asked for; paths as they were written. */
export interface MakeRun {
  readonly folder: string;
  readonly file: string;
  /** "" is the first of the file. */
  readonly targets: readonly string[];
}

const VALUED = new Set(["-o", "-W", "-I", "-l", "--old-file", "--what-if", "--include-dir", "--eval"]);

/** Reads the arguments of `make`; null when they cannot be known. */
export function makeRun(args: readonly Word[]): MakeRun | null {
  const targets: string[] = [];
  let folder = ".";
  let file = "Makefile";
  for (let at = 0; at < args.length; at += 1) {
    const { text, isKnown } = args[at] ?? { text: "", isKnown: false };
    const next = args[at + 1];
    if (/^[A-Za-z_]\w*[:+?]?=/.test(text)) continue;
    if (!isKnown) return null;
    const place = PLACE.exec(text);
    if (place !== null) {
      const [, option = "", attached = ""] = place;
      if (attached === "") at += 1;
      const value = attached === "" ? next : { text: attached, isKnown };
      if (value === undefined || !value.isKnown) return null;
      if (option === "-C" || option === "--directory") folder = value.text;
      else file = value.text;
    } else if (VALUED.has(text) || (/^(?:-j|--jobs)$/.test(text) && /^\d+$/.test(next?.text ?? ""))) at += 1;
    else if (!text.startsWith("-")) targets.push(text);
  }
  return { folder, file, targets: targets.length === 0 ? [""] : targets };
}

const PLACE = /^(-C|-f|--(?:directory|file|makefile)(?==|$))=?(.*)$/s;
