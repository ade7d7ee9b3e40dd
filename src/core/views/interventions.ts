import type { EventOf, Recorded } from "../events.ts";
import type { AgentProfile } from "../loop/intervention.ts";
import { type State, taskState } from "../state.ts";
import type { TaskId } from "../plan.ts";
import { feedbackSection } from "../prompt/build-prompt.ts";
import { type Instant, isoTime } from "../time.ts";
import { blockedIds } from "./inbox.ts";

export type RecordedIntervention = Recorded<EventOf<"intervention.chosen">>;

/** One entry of `events.json`; the names are part of the public contract. */
export type InterventionEntry = ReturnType<typeof interventionEntry>;

export function interventionEntry(event: RecordedIntervention) {
  const { details } = event;
  return {
    iteration: event.iteration,
    event_type: event.intervention,
    timestamp: isoTime(event.at),
    severity: event.severity,
    details: {
      task_id: event.task,
      agent: event.agent,
      agent_return_code: details.returnCode,
      exit_signal_claimed: details.claimedCompletion,
      files_written: details.filesWritten,
      evidence_count: details.evidenceCount,
    },
    /** Whether the next prompt says it. */
    remediation_attempted: event.isFedBack,
    rule: event.rule,
    message: event.feedback.text,
  };
}

/** The text of `events.json`: one serialised entry a line. */
export function interventionsDocument(entries: readonly string[]): string {
  const list = entries.length === 0 ? "[]" : `[\n    ${entries.join(",\n    ")}\n  ]`;
  return `{\n  "$schema": "ralph_gold.interventions.v1",\n  "events": ${list}\n}\n`;
}

/** When no run says otherwise. */
export const ROTATION_DAYS = 30;

const DAY_MS = 86_400_000;

/** Whether an event belongs in an archive, and no longer in `events.json`. */
export function isRotated(at: Instant, now: Instant, rotationDays: number): boolean {
  return at < now - rotationDays * DAY_MS;
}

const KEPT = 500;

/**
 * How many of so many events are in archives by their number alone, the oldest first: the file is written anew with
 * every event, and a long run must not make that slow. Whoever counts them again comes to the same.
 */
export function rotatedByNumber(count: number): number {
  return Math.max(0, Math.floor(count / KEPT) - 1) * KEPT;
}

/** The archive of an event: `events-2026-01.json.gz`. */
export function archiveName(at: Instant): string {
  return `events-${isoTime(at).slice(0, 7)}.json.gz`;
}

/** The text of `feedback.txt`: what the next prompts will say; of several tasks each below its name. */
export function feedbackText(state: State): string {
  const sections = openTasks(state)
    .map((id) => ({ id, section: feedbackSection(taskState(state, id).feedback) }))
    .filter(({ section }) => section !== "");
  const isOne = sections.length === 1;
  return sections.map(({ id, section }) => `${isOne ? "" : `# ${id}\n`}${section}\n`).join("\n");
}

/** In the order of the plan; before a run has seen one, all that are known. */
function openTasks({ plan, tasks }: State): readonly TaskId[] {
  const ids =
    plan === null ? Object.keys(tasks) : plan.tasks.filter((task) => !task.done).map(({ id }) => id);
  return ids.filter((id) => !Object.hasOwn(tasks, id) || (tasks[id]?.completion ?? null) === null);
}

/** What `metrics.json` and `ralph metrics --json` hold. A rate of nothing is null, never 0. */
export type Metrics = ReturnType<typeof metricsOf>;

export function metricsOf(state: State) {
  const { tally } = state;
  const interventionRate = ratio(tally.interventions, tally.iterations);
  return {
    total_interventions: tally.interventions,
    interventions_by_type: tally.byType,
    interventions_by_severity: tally.bySeverity,
    intervention_rate_per_100_iterations: interventionRate === null ? null : interventionRate * 100,
    /** Of the corrections that agents were told: the next iteration wrote files or was accepted. */
    avg_remediation_success_rate: ratio(tally.remedied, tally.corrected),
    blocked_rate: share(blockedIds(state).length, tally.tasksStarted),
    wasted_iterations: tally.wasted,
    wasted_rate: ratio(tally.wasted, tally.iterations),
    files_per_iteration: ratio(tally.filesWritten, tally.iterations),
    completion_rate: share(tally.tasksCompleted, tally.tasksStarted),
    cost_per_accepted_task_usd: tally.costUsd === null ? null : ratio(tally.costUsd, tally.tasksCompleted),
  };
}

/** After a reset tasks end that were begun before it: then it is all of them, not more. */
function share(part: number, whole: number): number | null {
  const rate = ratio(part, whole);
  return rate === null ? null : Math.min(1, rate);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

/** One agent as `profile.json` and `ralph profile --json` show it. */
export type ProfileEntry = ReturnType<typeof profileEntry>;

/** By name. Events of an older ralph name no agent; they make no profile. */
export function profileEntries({ profiles }: Pick<State, "profiles">): readonly ProfileEntry[] {
  return Object.entries(profiles)
    .filter(([agent]) => agent !== "")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([agent, profile]) => profileEntry(agent, profile));
}

/** The content of `profile.json`. */
export function profilesDocument(state: State): unknown {
  return { $schema: "ralph_gold.profile.v1", profiles: profileEntries(state) };
}

function profileEntry(agent: string, profile: AgentProfile) {
  const { iterations, lastReinforcement } = profile;
  const each = (sum: number): number | null => (iterations === 0 ? null : sum / iterations);
  return {
    agent_id: agent,
    total_iterations: iterations,
    no_files_count: profile.noFiles,
    false_completion_count: profile.falseCompletions,
    avg_files_per_iteration: each(profile.filesWritten),
    avg_evidence_count: each(profile.citations),
    last_reinforcement: lastReinforcement === null ? null : isoTime(lastReinforcement),
    intervention_threshold_exceeded: profile.isOverThreshold,
  };
}
