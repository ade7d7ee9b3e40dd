import { elapsedMs } from "../core/time.ts";
import { Writable } from "node:stream";
import packageJson from "../../package.json" with { type: "json" };
import type { CliContext } from "../cli/commands.ts";
import type { Flags } from "../cli/commands/run.ts";
import { driveRun } from "../cli/drive-run.ts";
import { prepareRun, requireStartable } from "../cli/prepare-run.ts";
import { quietPrinter } from "../cli/print/run-printer.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import type { State } from "../core/loop/state.ts";
import type { AgentReport } from "../core/report/agent-report.ts";
import { RalphError } from "../core/ralph-error.ts";
import { toWire } from "../core/wire.ts";
import type { Follower } from "../engine/ports.ts";
import type { LoopOptions, LoopResult } from "./loop.ts";
import { namedEvent } from "./project-event.ts";

/** The loop of `ralph run`, with the caller's functions in place of a terminal. */
export async function embeddedLoop(options: LoopOptions): Promise<LoopResult> {
  const context = contextOf(options);
  const flags = flagsOf(options);
  const prepared = await prepareRun(options.goal, flags, context, options.plugins);
  await requireStartable(prepared, context);
  const witness = new Witness();
  await driveRun({
    ...prepared,
    context,
    printer: quietPrinter(),
    allowDirty: flags.allowDirty === true,
    keepAwake: flags.keepAwake !== false,
    summary: false,
    suggests: false,
    verbose: false,
    embedded: {
      signal: options.signal ?? new AbortController().signal,
      follower: {
        async follow(event, state) {
          await witness.follow(event, state);
          await options.onEvent?.(namedEvent({ ...toWire(event), type: event.type }));
        },
      },
    },
  });
  return witness.result();
}

/** Sees what the result tells. */
class Witness implements Follower {
  #state: State | null = null;
  #last: AgentReport | null = null;

  follow(event: Parameters<Follower["follow"]>[0], state: State): Promise<void> {
    this.#state = state;
    if (event.type === "iteration.ended") this.#last = event.report;
    return Promise.resolve();
  }

  result(): LoopResult {
    const run = this.#state?.run ?? null;
    if (run === null || run.end === null)
      throw new RalphError("internal", "the loop is over, and nobody recorded how it ended");
    const { outcome, reason, at } = run.end;
    const failure = this.#last?.failure ?? null;
    return {
      success: outcome === "completed",
      outcome,
      exitCode: EXIT_CODES[outcome],
      reason,
      run: run.id,
      iterations: run.iterations,
      durationMs: elapsedMs(run.startedAt, at),
      costUsd: run.spend.usd,
      finalOutput: this.#last?.finalText ?? "",
      promise: this.#last?.promise ?? null,
      error: failure && { class: failure.class, message: failure.message },
    };
  }
}

function contextOf({ cwd, env, dir, onNotice = () => {} }: LoopOptions): CliContext {
  return {
    cwd: cwd ?? process.cwd(),
    env: env ?? process.env,
    stdout: sink(() => {}),
    stderr: sink((text) => onNotice(text.replace(/^ralph: /, "").trimEnd())),
    dir,
    verbose: false,
    version: packageJson.version,
  };
}

/** The command line writes to streams; here nobody looks at a terminal. */
function sink(take: (text: string) => void): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      take(String(chunk));
      done();
    },
  });
  return stream as unknown as NodeJS.WriteStream;
}

/** As they would be typed, so that they are checked and resolved in one place. */
function flagsOf(options: LoopOptions): Flags {
  const { checks, tasks, agent, model, source, mode, parallel, sandbox } = options;
  const { maxIterations, maxStuck, timeoutMs, budgetUsd, maxDurationMs } = options;
  return {
    ...given({ check: checks, task: tasks, agent, model, source, mode, sandbox }),
    ...given({
      maxIterations: maxIterations?.toString(),
      maxStuck: maxStuck?.toString(),
      budget: budgetUsd?.toString(),
      parallel: parallel?.toString(),
      timeout: inUnits(timeoutMs),
      maxDuration: inUnits(maxDurationMs),
    }),
    ...given({
      worktree: options.worktree,
      keepGoing: options.keepGoing,
      wait: options.wait,
      allowDirty: options.allowDirty,
      changesNeeded: options.changesNeeded,
      interventions: options.interventions,
      keepAwake: options.keepAwake,
    }),
  };
}

function inUnits(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `${ms}ms`;
}

type Given<Values> = { [Key in keyof Values]?: Exclude<Values[Key], undefined> };

function given<Values extends object>(values: Values): Given<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Given<Values>;
}
