import { createHash, randomUUID } from "node:crypto";
import { agentNamed } from "../../core/agent-named.ts";
import type { EventOf } from "../../core/events.ts";
import { hourOf } from "../../core/limits/calls.ts";
import { beginIteration, needsBaseline, type Beginning } from "../../core/loop/begin-iteration.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isDayBudgetReached } from "../day-budget.ts";
import { analyzed } from "../ask-advisers.ts";
import type { Journal } from "../journal.ts";
import { lookAround } from "../look-around.ts";
import type { Ports, Snapshot } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";
import { watchCheckout } from "./watch-checkout.ts";
import { hasWorktree } from "./open-worktree.ts";
import { measureBaseline } from "./measure-baseline.ts";

type Started = EventOf<"iteration.started">;

/** One agent process: looked around, admitted, recorded as started, run, recorded as ended. */
export async function iterate(
  effect: EffectOf<"iterate">,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  if (!(await hasWorktree(effect.task, ports, journal, signal))) return;
  const workspace = workspaceFor(ports, journal.state, effect.task);
  const snapshot = await workspace.snapshot();
  if (needsBaseline(journal.state, effect.task, snapshot.head))
    return measureBaseline(effect.task, snapshot.head, ports, journal, signal);
  if (await isDayBudgetReached(effect.task, ports, journal)) return;
  await ports.source.stories?.keep();
  const admitted = await admit(effect, snapshot, ports, journal, signal);
  if (admitted === null) return;
  const { started, prompt, promise, about, session, model } = admitted;
  const { run, task, stage, iteration, ordinal, maxIterations, timeoutMs, marker } = started;
  const known = agentNamed(started.agent, ports.commands.agents);
  const agent = known && { ...known, model: model ?? known.model };
  if (agent === null) throw new RalphError("config", `the agent "${started.agent}" is not configured`);
  const settings = journal.state.run?.settings;
  const { worktree } = taskState(journal.state, task);
  const strays = worktree === null ? null : await watchCheckout(started, ports, journal);
  const report = await ports.agents.run(
    {
      agent,
      prompt,
      promise,
      run,
      task,
      stage,
      iteration,
      ordinal,
      maxIterations,
      about,
      session: agent.session === "resume" ? session : null,
      timeoutMs,
      idleMs: settings?.limits.idleMs ?? 0,
      marker,
      // The operator may say something at any time.
      mayGetMessages: true,
      onGone: () => workspace.lookAhead(),
      ...(worktree !== null && { root: worktree.root }),
    },
    signal,
  );
  const analyzedReport = await analyzed(ports, journal.state, iteration, report);
  await journal.record(
    { type: "iteration.ended", run, task, iteration, report: analyzedReport },
    ...((await strays?.()) ?? []),
  );
}

/** Records `iteration.started` before any process exists, so that a crash leaves a trace. */
async function admit(
  effect: EffectOf<"iterate">,
  snapshot: Snapshot,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<(Beginning & { readonly started: Started }) | null> {
  const around = { ...snapshot, notes: await ports.notes.read(), worker: ports.worker ?? null };
  const marker = randomUUID();
  let admitted: (Beginning & { readonly started: Started }) | null = null;
  const { since, until } = hourOf(ports.clock.now());
  const below = journal.state.run?.settings.limits.callsPerHour ?? 0;
  const begin = (state: State): readonly Started[] | null => {
    const begun = signal.aborted
      ? null
      : beginIteration(state, effect.task, effect.lane, around, ports.clock.now());
    admitted = begun && {
      ...begun,
      started: { ...begun.started, promptSha256: sha256(begun.prompt), marker },
    };
    return admitted && [admitted.started];
  };
  const answer = await journal.admit(begin, below === 0 ? undefined : { since, below });
  if (answer === "admitted") return admitted;
  if (answer === "calls-exhausted" && journal.state.run !== null)
    await journal.record({ type: "calls.exhausted", run: journal.state.run.id, until });
  return null;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
