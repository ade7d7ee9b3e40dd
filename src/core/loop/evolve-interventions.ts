import type { EventOf, Recorded } from "../events.ts";
import { withFinding } from "../interventions/lessons.ts";
import { NEW_PROFILE, profileIntervention } from "../interventions/profile.ts";
import { EMPTY_TALLY, tallyIntervention } from "../interventions/tally.ts";
import { withIntervention } from "../interventions/thresholds.ts";
import { taskState, withTask, type State, type TaskState } from "./state.ts";

export function interventionChosen(state: State, event: Recorded<EventOf<"intervention.chosen">>): State {
  const { agent, intervention, severity, isFedBack, leads } = event;
  const task = taskState(state, event.task);
  const profile = profileIntervention(state.profiles[agent] ?? NEW_PROFILE, {
    type: intervention,
    at: event.at,
    isFedBack,
    leads,
  });
  return {
    ...withTask(state, event.task, {
      feedback: isFedBack ? withFeedback(task, event) : task.feedback,
      feedbackLeads: task.feedbackLeads || (isFedBack && leads),
      watched: withIntervention(task.watched, event.iteration, intervention),
    }),
    profiles: { ...state.profiles, [agent]: profile },
    tally: tallyIntervention(state.tally, intervention, severity),
    findings: withFinding(state.findings, event.rule, event.task),
  };
}

/** Who takes over begins with fresh counts; so does the run. */
export function agentSuspended(state: State, event: Recorded<EventOf<"agent.suspended">>): State {
  const task = taskState(state, event.task);
  const next = withTask(state, event.task, {
    suspended: [...task.suspended, event.agent],
    standIn: event.successor,
    watched: [],
    ...(event.successor !== null && { attempts: 0, failures: 0, stuckCount: 0 }),
  });
  return event.successor === null || next.run === null
    ? next
    : {
        ...next,
        run: { ...next.run, stuckCount: 0 },
        breaker: { ...next.breaker, noProgress: 0, inVain: 0 },
      };
}

export function lessonsForgotten(
  state: State,
  event: Recorded<EventOf<"lesson.removed" | "interventions.reset">>,
): State {
  return event.type === "lesson.removed"
    ? { ...state, findings: state.findings.filter(({ rule }) => rule !== event.rule) }
    : { ...state, profiles: {}, tally: EMPTY_TALLY, findings: [], interventionsSince: event.position };
}

export function taskCompleted(state: State, event: Recorded<EventOf<"task.completed">>): State {
  const completion = { iteration: event.iteration, commit: event.commit, position: event.position };
  const task = taskState(state, event.task);
  return {
    ...withTask(state, event.task, { completion, marked: false, merge: mergeAfter(task) }),
    tally: { ...state.tally, tasksCompleted: state.tally.tasksCompleted + 1 },
  };
}

/** Where branches are not the result, the work has to come to the base. */
function mergeAfter({ worktree }: TaskState): TaskState["merge"] {
  return worktree === null || worktree.merge === "none" ? null : { is: "due" };
}

function withFeedback(task: TaskState, event: EventOf<"intervention.chosen">): TaskState["feedback"] {
  const said = task.feedback.some((item) => item.text === event.feedback.text);
  return said ? task.feedback : [...task.feedback, event.feedback];
}
