import type { Event } from "../events.ts";
import type { Correction, InterventionDetails } from "../interventions/intervention.ts";
import { escalationOf, type Escalation } from "../interventions/thresholds.ts";
import type { Task } from "../plan/task.ts";
import { taskState, type OpenIteration, type RunState, type State } from "./state.ts";

/** More of a gate's output than a prompt ever shows. */
const OUTPUT_KEPT = 4_000;

export function interventionEvents(
  run: RunState,
  open: OpenIteration,
  told: readonly Correction[],
  { isFedBack = run.settings.interventions.enabled, leads = false } = {},
): readonly Event[] {
  return told.map(({ intervention, severity, rule, text, output }): Event => ({
    type: "intervention.chosen",
    run: open.run,
    task: open.task,
    iteration: open.number,
    agent: open.agent,
    intervention,
    severity,
    rule,
    feedback: {
      iteration: open.number,
      text,
      ...(output !== undefined && { output: output.slice(-OUTPUT_KEPT) }),
    },
    details: detailsOf(open),
    isFedBack,
    leads,
  }));
}

function detailsOf({ phase }: OpenIteration): InterventionDetails {
  const report = "report" in phase ? phase.report : null;
  return {
    returnCode: report?.ending.is === "exited" ? report.ending.code : null,
    claimedCompletion: report?.claim.is === "complete",
    filesWritten: "evidence" in phase ? phase.evidence.changed.files : 0,
    evidenceCount: report?.signals?.citations.length ?? 0,
  };
}

export interface Escalated {
  readonly events: readonly Event[];
  /** The task is settled by it: no other brake is asked. */
  readonly isHandled: boolean;
}

/** What follows when an agent does the same wrong thing again and again; `state` is the one after the verdict. */
export function escalate(
  state: State,
  run: RunState,
  open: OpenIteration,
  task: Task | undefined,
): Escalated {
  const { interventions } = run.settings;
  const escalation = escalationOf(taskState(state, open.task).watched, interventions);
  if (escalation === null || task?.loops === false) return { events: [], isHandled: false };
  const words = `${escalation.what}, ${times(escalation.times)} in the last ${interventions.window} iterations of this task`;
  if (escalation.to === "suspend") return suspension(state, run, open, words);
  return {
    events: interventionEvents(run, open, [reinforcement(escalation, words)], { leads: true }),
    isHandled: false,
  };
}

function reinforcement({ times: count }: Escalation, words: string): Correction {
  const text =
    count === 1
      ? `This must not happen again: ${words}. Begin by editing a file with your tools, and claim nothing before \`git status\` shows your change.`
      : `It happened again: ${words}. Words do not count here. Begin by editing a file with your tools, and claim nothing before \`git status\` shows your change. Once more, and you are taken off this task.`;
  return { intervention: "agent_reinforced", severity: "critical", rule: "threshold", text };
}

function suspension(state: State, run: RunState, open: OpenIteration, words: string): Escalated {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { suspended } = taskState(state, open.task);
  const successor =
    run.settings.fallbackAgents.find((name) => name !== open.agent && !suspended.includes(name)) ?? null;
  const suspendedEvent: Event = {
    ...about,
    type: "agent.suspended",
    agent: open.agent,
    successor,
    why: words,
  };
  if (successor !== null) return { events: [suspendedEvent], isHandled: false };
  const reason = `the agent ${open.agent} was suspended for manual review: ${words}`;
  return { events: [suspendedEvent, { ...about, type: "task.blocked", reason }], isHandled: true };
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}
