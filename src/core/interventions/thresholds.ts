import type { InterventionSettings } from "../settings.ts";
import type { InterventionType } from "./intervention.ts";

/** What one iteration of a task did that thresholds count. */
export interface WatchedIteration {
  readonly iteration: number;
  readonly noFiles: boolean;
  readonly falseCompletion: boolean;
}

/** A threshold that was reached (reinforce) or passed (suspend), and by what. */
export interface Escalation {
  readonly to: "reinforce" | "suspend";
  /** The end of "… in the last 5 iterations of this task". */
  readonly what: string;
  readonly times: number;
}

/** More than any window that makes sense. */
const WATCHED_MAX = 50;

/** What lies before the first one that counted changes no count: it is not kept. */
export function withIteration(
  watched: readonly WatchedIteration[],
  iteration: number,
): readonly WatchedIteration[] {
  const first = watched.findIndex(({ noFiles, falseCompletion }) => noFiles || falseCompletion);
  const counted = first === -1 ? [] : watched.slice(first);
  return [...counted, { iteration, noFiles: false, falseCompletion: false }].slice(-WATCHED_MAX);
}

export function withIntervention(
  watched: readonly WatchedIteration[],
  iteration: number,
  type: InterventionType,
): readonly WatchedIteration[] {
  return watched.map((entry) =>
    entry.iteration !== iteration
      ? entry
      : {
          ...entry,
          noFiles: entry.noFiles || type === "no_files_detected",
          falseCompletion: entry.falseCompletion || type === "false_completion_detected",
        },
  );
}

/** What the last iteration of a task leads to; null when it did nothing that counts. */
export function escalationOf(
  watched: readonly WatchedIteration[],
  settings: InterventionSettings,
): Escalation | null {
  const recent = watched.slice(-settings.window);
  const last = recent.at(-1);
  if (!settings.enabled || last === undefined) return null;
  const counts = [
    {
      isHere: last.falseCompletion,
      times: recent.filter((entry) => entry.falseCompletion).length,
      threshold: settings.thresholdFalseCompletion,
      what: "a false claim of completion",
    },
    {
      isHere: last.noFiles,
      times: recent.filter((entry) => entry.noFiles).length,
      threshold: settings.thresholdNoFiles,
      what: "an iteration without a single changed file",
    },
  ].filter(({ isHere, threshold }) => isHere && threshold > 0);
  const passed = counts.find(({ times, threshold }) => times > threshold);
  if (passed !== undefined) return { to: "suspend", what: passed.what, times: passed.times };
  const reached = counts.find(({ times, threshold }) => settings.aggressive || times === threshold);
  return reached === undefined ? null : { to: "reinforce", what: reached.what, times: reached.times };
}
