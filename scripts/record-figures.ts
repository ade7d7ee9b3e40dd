import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Curves } from "./curves-svg.ts";

export type Figures = Readonly<Record<string, number | string | boolean>>;

const FOLDER = join(import.meta.dirname, "..", "docs", "proof", "figures");

/** Keeps what a command measured where the page of the proof is made from; answers the path. */
export function recordFigures(name: string, command: string, figures: Figures, curves?: Curves): string {
  const at = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const path = join(FOLDER, `${name}.json`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path, `${JSON.stringify({ command, at, figures, curves }, null, 2)}\n`);
  return path;
}
