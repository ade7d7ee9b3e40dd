import { readFileSync } from "node:fs";
import type { ChannelName, Delivered } from "../../engine/ports.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";

interface Kept {
  /** Positions are those of one log. */
  readonly log: string;
  readonly delivered: Readonly<Partial<Record<ChannelName, number>>>;
}

/** Kept in a small file; only who holds the project's lock writes it. */
export function deliveredFile(path: string, log: string): Delivered {
  const before = readKept(path);
  let kept: Kept = before?.log === log ? before : { log, delivered: {} };
  return {
    read: (channel) => kept.delivered[channel] ?? null,
    write(channel, position) {
      kept = { log, delivered: { ...kept.delivered, [channel]: position } };
      writeFileAtomically(path, `${JSON.stringify(kept)}\n`);
    },
  };
}

/** Null for what is missing or spoilt: then nothing is sent again. */
function readKept(path: string): Kept | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<Kept> | null;
    const isKept =
      typeof value?.log === "string" && typeof value.delivered === "object" && value.delivered !== null;
    if (!isKept) return null;
    const numbers = Object.entries(value.delivered ?? {}).filter(([, at]) => Number.isSafeInteger(at));
    return { log: value.log ?? "", delivered: Object.fromEntries(numbers) };
  } catch {
    return null;
  }
}
