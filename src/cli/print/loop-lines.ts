import { formatDuration } from "../../core/duration.ts";
import type { Loop } from "../../core/projections/loops.ts";
import type { Instant } from "../../core/time.ts";

const MINUTE_MS = 60_000;

/** What `ralph ralph-status` prints. */
export function loopLines(loops: readonly Loop[], now: Instant): readonly string[] {
  const lines = loops.map(
    ({ task, stage, iteration, maxIterations, startedAt }) =>
      `  ${task} (${stage}): iteration ${iteration}/${maxIterations}, started ${since(startedAt, now)} ago`,
  );
  return ["Active Ralph Loops:", ...(lines.length === 0 ? ["  none"] : lines)];
}

/** In whole minutes; of a loop that is younger, in seconds. */
function since(start: Instant, now: Instant): string {
  const unit = now - start < MINUTE_MS ? 1_000 : MINUTE_MS;
  return formatDuration(Math.max(0, Math.floor((now - start) / unit)) * unit);
}
