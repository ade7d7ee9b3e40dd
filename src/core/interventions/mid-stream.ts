import { formatDuration } from "../duration.ts";
import type { Correction } from "./intervention.ts";

/** What an agent hears that has used half of its time without writing a file. */
export function midStreamCorrection(minutes: number): Correction {
  const text = `You have worked for ${formatDuration(minutes * 60_000)}, half of your time, and have not written a single file. Stop preparing: edit the files in the workspace with your tools now.`;
  return { intervention: "mid_stream_prompt_injected", severity: "warning", rule: "mid-stream", text };
}
