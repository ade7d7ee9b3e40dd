import { agentNamed } from "../../core/agents.ts";
import { randomUUID } from "node:crypto";
import type { Event } from "../../core/events.ts";
import { averageCost, budgetInWords, hourOf, likelySpent, wouldPass } from "../../core/limits/budget.ts";
import { limitedUntil } from "../../core/loop/agent-for.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { caseOf, type JudgeablePhase } from "../../core/loop/judge-iteration.ts";
import { workBase, type OpenIteration, type State } from "../../core/loop/state.ts";
import { plainTask } from "../../core/plan/task.ts";
import { UNKNOWN_USAGE, type AgentReport } from "../../core/report/agent-report.ts";
import { MODE_TIMEOUT_MS, verifyOf, type AgentSettings } from "../../core/settings.ts";
import { isoTime, type Instant } from "../../core/time.ts";
import { doubtsAmong, findConcerns } from "../../core/verdict/concerns.ts";
import { readerPrompt, readReview, type Reading, type Review } from "../../core/verdict/reader.ts";
import type { Journal } from "../journal.ts";
import { openIteration, workspaceFor } from "../workspace-for.ts";
import type { Ports } from "../ports.ts";

/** A fresh session reads the claim, in a checkout of its own. If it fails, the claim goes on without it. */
export async function askReader(
  effect: EffectOf<"ask-reader">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const about = { run: open.run, task: open.task, iteration: open.number };
  const answer = (reading: Reading): Promise<void> =>
    journal.record({ ...about, type: "reader.answered", reading });
  const agent = agentNamed(effect.agent, ports.commands.agents);
  const marker = randomUUID();
  const asked: Event = { ...about, type: "reader.asked", agent: effect.agent, marker };
  const why =
    agent === null
      ? `the agent "${effect.agent}" is not configured`
      : await refusal(asked, effect, ports, journal, signal);
  if (signal.aborted) return;
  if (agent === null || why !== null) return answer(failed(effect.agent, why ?? ""));
  const began = ports.clock.now();
  const { report, undone } = await readIn(ports, journal.state, open, agent, marker, signal);
  // Whoever stops a run has not heard the reader.
  if (signal.aborted) return;
  await answer({
    ...readingOf(effect.agent, report, ports.clock.now()),
    undone,
    durationMs: ports.clock.now() - began,
  });
}

/** Why nobody is asked; null when the call is admitted and recorded. */
async function refusal(
  asked: Event,
  { agent }: EffectOf<"ask-reader">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<string | null> {
  const now = ports.clock.now();
  const { since, until } = hourOf(now);
  const below = journal.state.run?.settings.limits.callsPerHour ?? 0;
  let why: string | null = null;
  const decide = (state: State): readonly Event[] | null => {
    why = whyNot(state, agent, now);
    return why === null && !signal.aborted ? [asked] : null;
  };
  const admitted = await journal.admit(decide, below === 0 ? undefined : { since, below });
  if (admitted === "calls-exhausted") return `the calls of this hour are used up until ${isoTime(until)}`;
  return why;
}

function whyNot(state: State, agent: string, now: Instant): string | null {
  const { run } = state;
  const until = Math.max(limitedUntil(state, agent), run?.pauses[agent] ?? 0);
  if (until > now) return `${agent} is limited until ${isoTime(until)}`;
  const budget = run?.settings.limits.budget.run ?? null;
  if (run === null || budget === null) return null;
  const spent = likelySpent(run.spend);
  return wouldPass(spent, averageCost(run.spend) ?? 0, budget) ? budgetInWords("run", spent, budget) : null;
}

interface Read {
  readonly report: AgentReport;
  readonly undone: readonly string[];
}

/** What it changes there is gone with the checkout. */
async function readIn(
  ports: Ports,
  state: State,
  open: OpenIteration,
  agent: AgentSettings,
  marker: string,
  signal: AbortSignal,
): Promise<Read> {
  const { phase } = open;
  if (phase.is !== "observed") throw new Error(`nothing is claimed in iteration ${open.number}`);
  const prompt = await promptFor(ports, state, open, phase);
  const settings = state.run?.settings;
  const read = (root: string | undefined): Promise<AgentReport> =>
    ports.agents.run(
      {
        agent: { ...agent, model: (settings && verifyOf(settings).readerModel) ?? agent.model },
        prompt,
        promise: { completion: "", requireXml: true },
        run: open.run,
        task: open.task,
        stage: "reader",
        iteration: open.number,
        ordinal: open.ordinal,
        maxIterations: open.maxIterations,
        about: plannedTask(state, open),
        session: null,
        timeoutMs: MODE_TIMEOUT_MS[settings?.mode ?? "standard"],
        idleMs: settings?.limits.idleMs ?? 0,
        marker,
        mayGetMessages: false,
        onGone: () => {},
        part: "reader",
        ...(root !== undefined && { root }),
      },
      signal,
    );
  const { beside } = ports;
  const { headAfter } = phase.evidence;
  if (beside === null || headAfter === null) return { report: await read(undefined), undone: [] };
  return beside.worktrees.at(
    headAfter,
    async ({ root }) => {
      const report = await read(root);
      return { report, undone: await beside.workspaceAt(root).dirtyPaths([]) };
    },
    signal,
    { isSetUp: false },
  );
}

async function promptFor(
  ports: Ports,
  state: State,
  open: OpenIteration,
  phase: JudgeablePhase,
): Promise<string> {
  const { run } = state;
  if (run === null) throw new Error("there is no run");
  const context = caseOf(state, run, open, phase);
  const { report, evidence, gates, oldChecks } = phase;
  const base = workBase(state, open.task);
  const patch = await workspaceFor(ports, state, open.task).patch(base, evidence.headAfter);
  return readerPrompt({
    task: plannedTask(state, open),
    diff: patch.text,
    isDiffCut: patch.isCut,
    base,
    head: evidence.headAfter,
    gates: gates ?? [],
    oldChecks,
    concerns: doubtsAmong(findConcerns(context), context),
    claim: report.claim.is === "complete" ? report.claim.promise : "the task is done",
    finalText: report.finalText,
    alreadyDone: report.claim.is === "already-done" ? report.claim.reason : null,
  });
}

function plannedTask({ plan }: State, { task: id }: OpenIteration) {
  return plan?.tasks.find((task) => task.id === id) ?? plainTask({ id, title: id });
}

/** A limit that does not say how long it lasts. */
const UNKNOWN_LIMIT_MS = 15 * 60_000;

function readingOf(agent: string, report: AgentReport, now: Instant): Reading {
  const { failure, usage } = report;
  const limitedUntil = failure?.class === "limit" ? (failure.resetsAt ?? now + UNKNOWN_LIMIT_MS) : null;
  const read = reviewIn(report);
  const review = "review" in read ? read.review : null;
  const why = failure?.message ?? ("problem" in read ? read.problem : null);
  return {
    ...failed(agent, review === null ? (why ?? "it said nothing") : null),
    review,
    usage,
    limitedUntil,
  };
}

/** What it handed in by its tool counts for more than its words. */
function reviewIn({
  review,
  finalText,
}: AgentReport): { readonly review: Review } | { readonly problem: string } {
  return review === undefined ? readReview(finalText) : { review };
}

function failed(agent: string, failure: string | null): Reading {
  return { agent, review: null, failure, undone: [], usage: UNKNOWN_USAGE, durationMs: 0 };
}
