import { agentNamed } from "../../core/agents.ts";
import { randomUUID } from "node:crypto";
import type { Event } from "../../core/events.ts";
import { averageCost, budgetInWords, likelySpent, wouldPass } from "../../core/loop/brakes.ts";
import { limitedUntil } from "../../core/loop/stages.ts";
import { UNKNOWN_LIMIT_MS } from "../../core/loop/consequences.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { caseOf } from "../../core/loop/judge-iteration.ts";
import { baseCommit, type State } from "../../core/state.ts";
import { UNKNOWN_USAGE, type AgentReport } from "../../core/streams/agent-report.ts";
import { MODE_TIMEOUT_MS, verifyOf, type AgentSettings } from "../../core/settings.ts";
import { isoTime, type Instant } from "../../core/time.ts";
import { doubtsAmong, findConcerns } from "../../core/verdict/concerns.ts";
import { readerPrompt, readReview, type Reading } from "../../core/verdict/reader.ts";
import { openIteration, theRun, type Iteration, type Performing } from "../look-around.ts";
import { callsLeft } from "./iterate.ts";

/** A fresh session reads the claim, in a checkout of its own. If it fails, the claim goes on without it. */
export async function askReader(effect: EffectOf<"ask-reader">, performing: Performing): Promise<void> {
  const { ports, journal, signal } = performing;
  const iteration = openIteration(performing, effect.iteration);
  const { about } = iteration;
  const answer = (reading: Reading): Promise<void> =>
    journal.record({ ...about, type: "reader.answered", reading });
  const agent = agentNamed(effect.agent, ports.commands.agents);
  if (agent === null) return answer(failed(effect.agent, `the agent "${effect.agent}" is not configured`));
  const marker = randomUUID();
  const why = await refusal(
    { ...about, type: "reader.asked", agent: effect.agent, marker },
    effect,
    performing,
  );
  if (signal.aborted) return;
  if (why !== null) return answer(failed(effect.agent, why));
  const began = ports.clock.now();
  const read = await readIn(performing, iteration, agent, marker);
  // A person who stops a run does not wait for the reader.
  if (signal.aborted) return;
  const now = ports.clock.now();
  await answer({
    ...readingOf(effect.agent, read.report, now),
    undone: read.undone,
    durationMs: now - began,
  });
}

/** Why nobody is asked; null when the call is admitted and recorded. */
async function refusal(
  asked: Event,
  { agent }: EffectOf<"ask-reader">,
  { ports, journal, signal }: Performing,
): Promise<string | null> {
  const now = ports.clock.now();
  const { calls, until } = callsLeft(journal.state, now);
  let why: string | null = null;
  const decide = (state: State): readonly Event[] | null => {
    why = whyNot(state, agent, now);
    return why === null && !signal.aborted ? [asked] : null;
  };
  const admitted = await journal.admit(decide, calls);
  if (admitted === "calls-exhausted") return `the calls of this hour are used up until ${isoTime(until)}`;
  return why;
}

function whyNot(state: State, agent: string, now: Instant): string | null {
  const { settings, pauses, spend } = theRun(state);
  const until = Math.max(limitedUntil(state, agent), pauses[agent] ?? 0);
  if (until > now) return `${agent} is limited until ${isoTime(until)}`;
  const budget = settings.limits.budget.run;
  const spent = likelySpent(spend);
  const isOver = budget !== null && wouldPass(spent, averageCost(spend) ?? 0, budget);
  return isOver ? budgetInWords("run", spent, budget) : null;
}

/** What it changes there is gone with the checkout. */
async function readIn(
  { ports, signal }: Performing,
  iteration: Iteration,
  agent: AgentSettings,
  marker: string,
): Promise<{ readonly report: AgentReport; readonly undone: readonly string[] }> {
  const { open, about, task, run } = iteration;
  const { phase, ordinal, maxIterations } = open;
  if (phase.is !== "observed") throw new Error(`nothing is claimed in iteration ${open.number}`);
  const { settings } = run;
  const prompt = await promptFor(iteration);
  const read = (root?: string): Promise<AgentReport> =>
    ports.agents.run(
      {
        ...about,
        agent: { ...agent, model: verifyOf(settings).readerModel ?? agent.model },
        prompt,
        promise: { completion: "", requireXml: true },
        stage: "reader",
        ordinal,
        maxIterations,
        about: task,
        session: null,
        timeoutMs: MODE_TIMEOUT_MS[settings.mode],
        idleMs: settings.limits.idleMs,
        marker,
        mayGetMessages: false,
        onGone: () => {},
        part: "reader",
        ...(root !== undefined && { root }),
      },
      signal,
    );
  const { parallel } = ports;
  const { headAfter } = phase.evidence;
  if (parallel === null || headAfter === null) return { report: await read(), undone: [] };
  return parallel.worktrees.at(
    headAfter,
    async ({ root }) => {
      const report = await read(root);
      return { report, undone: await parallel.workspaceAt(root).dirtyPaths([]) };
    },
    signal,
    { isSetUp: false },
  );
}

async function promptFor({ open, state, run, task, workspace }: Iteration): Promise<string> {
  const { phase } = open;
  if (phase.is !== "observed") throw new Error(`nothing is claimed in iteration ${open.number}`);
  const context = caseOf(state, run, open, phase);
  const { report, evidence, gates, oldChecks } = phase;
  const { claim, finalText } = report;
  const base = baseCommit(state, open.task);
  const patch = await workspace.patch(base, evidence.headAfter);
  return readerPrompt({
    task,
    diff: patch.text,
    isDiffCut: patch.isCut,
    base,
    head: evidence.headAfter,
    gates: gates ?? [],
    oldChecks,
    concerns: doubtsAmong(findConcerns(context), context),
    claim: claim.is === "complete" ? claim.promise : "the task is done",
    finalText,
    alreadyDone: claim.is === "already-done" ? claim.reason : null,
  });
}

function readingOf(agent: string, report: AgentReport, now: Instant): Reading {
  const { failure, usage, finalText } = report;
  const limitedUntil = failure?.class === "limit" ? (failure.resetsAt ?? now + UNKNOWN_LIMIT_MS) : null;
  // What it handed in by its tool counts for more than its words.
  const read = report.review === undefined ? readReview(finalText) : { review: report.review };
  if ("review" in read) return { ...failed(agent, null), review: read.review, usage, limitedUntil };
  return { ...failed(agent, failure?.message ?? read.problem), usage, limitedUntil };
}

function failed(agent: string, failure: string | null): Reading {
  return { agent, review: null, failure, undone: [], usage: UNKNOWN_USAGE, durationMs: 0 };
}
