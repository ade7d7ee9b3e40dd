import { driveRun } from "../app/drive-run.ts";
import { prepareRun, requireStartable } from "../app/prepare-run.ts";
import packageJson from "../../package.json" with { type: "json" };
import { RalphError } from "../core/errors.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import type { State } from "../core/state.ts";
import type { AgentReport } from "../core/streams/agent-report.ts";
import { elapsedMs } from "../core/time.ts";
import { toWire } from "../core/wire.ts";
import type { LoopOptions, LoopResult } from "./loop.ts";
import { namedEvent } from "./project-event.ts";

/** The loop of `ralph run`, with the caller's functions in place of a terminal. */
export async function embeddedLoop(options: LoopOptions): Promise<LoopResult> {
  const { goal, checks, tasks, timeoutMs, budgetUsd, maxDurationMs, plugins, onEvent } = options;
  const { cwd = process.cwd(), env = process.env, dir, onNotice = () => {} } = options;
  const flags = {
    ...options,
    check: checks,
    task: tasks,
    timeout: timeoutMs,
    budget: budgetUsd,
    maxDuration: maxDurationMs,
  };
  const prepared = await prepareRun(goal, flags, { cwd, env, dir, say: onNotice }, plugins);
  await requireStartable(prepared);
  let last: AgentReport | null = null;
  const end = await driveRun(prepared, {
    ...options,
    version: packageJson.version,
    signal: options.signal ?? new AbortController().signal,
    display: {
      async follow(event) {
        if (event.type === "iteration.ended") last = event.report;
        await onEvent?.(namedEvent({ ...toWire(event), type: event.type }));
      },
      progress: () => {},
      rest: () => {},
    },
  });
  return resultOf(end, last);
}

function resultOf({ run }: State, last: AgentReport | null): LoopResult {
  if (run === null || run.end === null)
    throw new RalphError("internal", "the loop is over, and nobody recorded how it ended");
  const { outcome, reason, at } = run.end;
  const failure = last?.failure ?? null;
  return {
    success: outcome === "completed",
    outcome,
    exitCode: EXIT_CODES[outcome],
    reason,
    run: run.id,
    iterations: run.iterations,
    durationMs: elapsedMs(run.startedAt, at),
    costUsd: run.spend.usd,
    finalOutput: last?.finalText ?? "",
    promise: last?.promise ?? null,
    error: failure && { class: failure.class, message: failure.message },
  };
}
