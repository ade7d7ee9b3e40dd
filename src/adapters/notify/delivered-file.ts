import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Delivered } from "../../engine/ports.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";

/** Positions of channels are those of one log. */
const KEPT = z.object({ log: z.string(), delivered: z.record(z.string(), z.int()) });

/** Kept in a small file; only who holds the project's lock writes it. */
export function deliveredFile(path: string, log: string): Delivered {
  const before = readKept(path);
  let kept: z.infer<typeof KEPT> = before?.log === log ? before : { log, delivered: {} };
  return {
    read: (channel) => kept.delivered[channel] ?? null,
    write(channel, position) {
      kept = { log, delivered: { ...kept.delivered, [channel]: position } };
      writeFileAtomically(path, `${JSON.stringify(kept)}\n`);
    },
  };
}

/** Null for what is missing or spoilt: then nothing is sent again. */
function readKept(path: string): z.infer<typeof KEPT> | null {
  try {
    return KEPT.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}
