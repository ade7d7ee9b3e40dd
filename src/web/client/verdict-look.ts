import type { Ruling } from "../../core/verdict/verdict.ts";

/** How a verdict is shown: never by its colour alone. */
export interface Look {
  readonly symbol: string;
  readonly name: string;
}

export const VERDICTS: readonly Ruling[] = [
  "accepted",
  "continue",
  "rejected",
  "failed",
  "decide",
  "blocked",
];

const LOOKS: Readonly<Record<Ruling | "running", Look>> = {
  accepted: { symbol: "✔", name: "accepted" },
  continue: { symbol: "·", name: "continue" },
  rejected: { symbol: "✗", name: "rejected" },
  failed: { symbol: "!", name: "failed" },
  decide: { symbol: "?", name: "asks" },
  blocked: { symbol: "■", name: "blocked" },
  running: { symbol: "▸", name: "running" },
};

export function lookOf(verdict: Ruling | null): Look {
  return LOOKS[verdict ?? "running"];
}
