import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, openSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { stripEscapes } from "../../core/words/strip-escapes.ts";
import type { Ending } from "../../core/streams/agent-report.ts";
import { type AwakeTimer, type LifeSigns, pollAwake, startAwakeTimer, watchForLife } from "./idle-watch.ts";
import { settingVariables } from "../git/git.ts";
import { drainOutputs, type OutputPump, pumpOutput } from "./line-splitter.ts";
import { cpuMsOf, endFamily, type Family, markerEntry, signalFamily } from "./process-sweep.ts";
import { entriesIn, textAt } from "./look-at.ts";
import { findProgram, limiting, listPids } from "./process-table.ts";

export interface SuperviseRequest {
  /** Program and arguments; no shell is involved. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The process only holds the real one, and ends with it: TERM is for that one. */
  readonly onlyHolds?: boolean;
  /** Unique to the iteration: what carries it in its environment does not survive. */
  readonly marker: string;
  /** In its environment and in nobody else's, where others that run meanwhile carry the same marker. */
  readonly ownEntry?: string;
  /** Written to stdin, which is then closed; without it, and without `onStdin`, stdin is empty. */
  readonly input?: string;
  /** Stdin stays open: called with the way to write to it. False: it could not be written. */
  readonly onStdin?: (write: (text: string) => Promise<boolean>) => void;
  readonly timeoutMs: number;
  /** It is also ended after so long without a sign of life; without this nobody watches. */
  readonly idle?: Pick<LifeSigns, "toolCalls" | "workTree"> & { readonly afterMs: number };
  /** Whether it has given its final result. Then it has `exitMs` to exit, and ending it afterwards is no failure. */
  readonly isOver?: () => boolean;
  readonly exitMs?: number;
  /** Asked every second: why it has to be ended now, if it has. */
  readonly watch?: () => "unreachable" | "budget" | null;
  /** Called when the process itself is gone; what it left behind is looked for after that. */
  readonly onExit?: () => void;
  /** Asks it to end by itself. It has a moment for that before TERM, and may still tell what it used. False: in vain. */
  readonly askToStop?: () => Promise<boolean>;
  /** Between TERM and KILL; less for an abort with the reason `cancelled`, which also asks nothing first. */
  readonly graceMs?: number;
  /** The process waits for a promise; a sink that fails stops it, and `supervise` rejects with the reason. */
  readonly onStdout: (chunk: Buffer) => void | Promise<void>;
  readonly onStderr: (chunk: Buffer) => void | Promise<void>;
}

export interface SuperviseResult {
  readonly ending: Ending;
  readonly durationMs: number;
  /** Leftover processes that had to be ended after the process itself was gone. */
  readonly swept: number;
}

const ASKED_MS = 2_000;
const GRACE_MS = 10_000;
const CANCELLED_GRACE_MS = 2_000;
const EXIT_MS = 10_000;
const WATCH_MS = 1_000;

/**
 * Runs one process in a session of its own until it exits, however that comes about, and leaves nothing of it
 * behind. It never waits for the output to close: a forgotten dev server may hold that for ever.
 */
export async function supervise(request: SuperviseRequest, signal: AbortSignal): Promise<SuperviseResult> {
  if (signal.aborted) return { ending: { is: "stopped" }, durationMs: 0, swept: 0 };
  const startedMs = performance.now();
  const known = new Set(listPids());
  const started = await start(request);
  if ("failure" in started) {
    const message = describeStartFailure(started.failure, request);
    return { ending: { is: "not-started", message }, durationMs: msSince(startedMs), swept: 0 };
  }
  const { child, leader, exit } = started;
  const entry = request.ownEntry ?? markerEntry(request.marker);
  const family: Family = { entry, leader, known, sinceMs: startedMs };
  const stopper = createStopper(family, request);
  const { isOver = () => false, exitMs = EXIT_MS } = request;
  const final = awaitFinalResult(isOver, child.stdin, exitMs, () => stopper.stop("over"));
  let outputBytes = 0;
  const pump = (stream: Readable, sink: SuperviseRequest["onStdout"]): OutputPump => {
    const take = (chunk: Buffer): void | Promise<void> => {
      outputBytes += chunk.length;
      const taken = sink(chunk);
      final.look();
      return taken;
    };
    return pumpOutput(stream, take, () => stopper.stop("sink-failed"));
  };
  const outputs = [pump(child.stdout, request.onStdout), pump(child.stderr, request.onStderr)];
  feed(child.stdin, request);
  const signs = { output: () => outputBytes, cpuMs: () => cpuMsOf(family) };
  const timers = [final, ...startTimers(request, signs, final, stopper)];
  const exited = await untilExit(exit, stopper, timers, signal);
  const durationMs = msSince(startedMs);
  request.onExit?.();
  const swept = await endFamily(family);
  await finishOutputs(outputs);
  child.stdin?.destroy();
  return { ending: endingOf(exited, stopper.reason(), request, durationMs), durationMs, swept };
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type StopReason =
  "timeout" | "idle" | "unreachable" | "budget" | "over" | "abort" | "cancelled" | "sink-failed";

interface Spawned extends ChildProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

type Started = { child: Spawned; leader: number; exit: Promise<Exit> } | { failure: unknown };

function start(request: SuperviseRequest): Promise<Started> {
  const { command, cwd, env, marker, input, onStdin } = request;
  return new Promise((resolve) => {
    // What is not there says so itself, and best.
    const isThere = findProgram(command[0] ?? "", cwd, env) !== null;
    const [program = "", ...args] = [...((isThere && limiting(markerEntry(marker))) || []), ...command];
    let child: Spawned;
    try {
      child = spawn(program, args, {
        cwd,
        env: { ...env, ...gitInForeground(env), RALPH_MARKER: marker },
        // A session and a group of its own, which Ctrl-C does not reach.
        detached: true,
        stdio: [
          input === undefined && onStdin === undefined ? "ignore" : "pipe",
          "pipe",
          "pipe",
          ...(withoutInherited ??= coverInherited()),
        ],
      }) as Spawned;
    } catch (failure) {
      resolve({ failure }); // Node refuses some arguments before it tries
      return;
    }
    // Also emitted when a signal cannot be delivered, which the sweep sees for itself.
    child.on("error", (failure) => resolve({ failure }));
    const exit = new Promise<Exit>((exited) => {
      child.once("exit", (code, signal) => exited({ code, signal }));
    });
    if (child.pid !== undefined) resolve({ child, leader: child.pid, exit });
  });
}

let withoutInherited: readonly ("ignore" | number)[] | null = null;

/** What whoever started us left open (`exec 200</`) would lead an agent out of its sandbox. Linux tells what it is. */
function coverInherited(): readonly ("ignore" | number)[] {
  const inherited = entriesIn("/proc/self/fd")
    .map(({ name }) => Number(name))
    .filter((fd) => fd > 2 && IS_INHERITED.test(textAt(`/proc/self/fdinfo/${fd}`) ?? ""));
  const nothing = inherited.length === 0 ? 0 : openSync("/dev/null", "r");
  return Array.from({ length: Math.max(2, ...inherited) - 2 }, (_, index) =>
    inherited.includes(index + 3) ? nothing : "ignore",
  );
}

/** The flag of those that are closed when a program starts is not set. */
const IS_INHERITED = /^flags:\t(?!\d*[2367]\d{6}$)/m;

/** An agent that never reads its input, or is gone before the end of it, is no error. */
function feed(stdin: Writable | null, { input, onStdin }: SuperviseRequest): void {
  stdin?.on("error", () => {});
  if (onStdin === undefined || stdin === null) {
    stdin?.end(input);
    return;
  }
  onStdin((text) => new Promise((resolve) => stdin.write(text, (error) => resolve(error == null))));
}

function startTimers(
  { timeoutMs, idle, watch }: SuperviseRequest,
  signs: Pick<LifeSigns, "output" | "cpuMs">,
  final: FinalResult,
  stopper: Stopper,
): readonly AwakeTimer[] {
  // What it had to say is said: that it does not go is all that is late.
  const stop = (reason: StopReason): void => stopper.stop(final.isGiven() ? "over" : reason);
  const timeout = startAwakeTimer(timeoutMs, () => stop("timeout"));
  const life = idle && watchForLife(idle.afterMs, { ...idle, ...signs }, () => stop("idle"));
  let why: StopReason | null = null;
  const isDue = async (): Promise<boolean> => (why = watch?.() ?? null) !== null;
  const watched = watch && pollAwake(WATCH_MS, isDue, () => why !== null && stop(why));
  return [timeout, life, watched].filter((timer) => timer !== undefined);
}

async function untilExit(
  exit: Promise<Exit>,
  stopper: Stopper,
  timers: readonly AwakeTimer[],
  signal: AbortSignal,
): Promise<Exit> {
  const onAbort = (): void => stopper.stop(signal.reason === "cancelled" ? "cancelled" : "abort");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await exit;
  } finally {
    signal.removeEventListener("abort", onAbort);
    for (const timer of timers) timer.cancel();
    stopper.processIsGone();
  }
}

type Stopper = ReturnType<typeof createStopper>;

function createStopper(
  family: Family,
  { askToStop, graceMs = GRACE_MS, onlyHolds = false }: SuperviseRequest,
) {
  let stopReason: StopReason | null = null;
  let isGone = false;
  let timer: AwakeTimer | null = null;
  const later = (ms: number, act: () => void): void => {
    timer = startAwakeTimer(ms, act);
  };
  const terminate = (grace = graceMs): void => {
    signalFamily(family, "SIGTERM", { sparesLeader: onlyHolds });
    later(grace, () => signalFamily(family, "SIGKILL"));
  };
  return {
    stop(reason: StopReason): void {
      if (isGone || stopReason !== null) return;
      stopReason = reason;
      if (reason === "cancelled") return terminate(CANCELLED_GRACE_MS);
      if (askToStop === undefined || reason === "over" || reason === "sink-failed") return terminate();
      later(ASKED_MS, () => terminate());
      void askToStop().then((isAsked) => {
        if (isAsked || isGone) return;
        timer?.cancel();
        terminate();
      });
    },
    processIsGone(): void {
      isGone = true;
      timer?.cancel();
    },
    reason: () => stopReason,
  };
}

function msSince(startedMs: number): number {
  return Math.round(performance.now() - startedMs);
}

async function finishOutputs(outputs: readonly OutputPump[]): Promise<void> {
  await drainOutputs(outputs);
  for (const { failure } of outputs) if (failure !== null) throw failure.error;
}

function endingOf(
  { code, signal }: Exit,
  stopReason: StopReason | null,
  { timeoutMs, idle }: SuperviseRequest,
  durationMs: number,
): Ending {
  switch (stopReason) {
    case "timeout":
      return { is: "timed-out", afterMs: timeoutMs };
    case "idle":
      return { is: "idle", afterMs: idle?.afterMs ?? 0 };
    case "unreachable":
      return { is: "idle", afterMs: durationMs };
    case "over":
      return { is: "exited", code: 0 };
    case "budget":
    case "abort":
    case "cancelled":
    case "sink-failed":
      return { is: "stopped" };
    case null:
      return signal === null ? { is: "exited", code: code ?? 0 } : { is: "signalled", signal };
  }
}

function describeStartFailure(failure: unknown, { command, cwd }: SuperviseRequest): string {
  const program = command[0];
  if (program === undefined || program === "") return "the command is empty";
  const { code, message } = failure as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      // The system gives the same answer for a missing folder, program, or interpreter of a script.
      if (!existsSync(cwd)) return `cannot start "${program}": the folder ${cwd} does not exist`;
      return `cannot start "${program}": it was not found; is it installed, and on the PATH?`;
    case "EACCES":
      return `cannot start "${program}": it is not executable (permission denied)`;
    case "E2BIG":
      return `cannot start "${program}": its arguments are too long; let it read the prompt from stdin`;
    default:
      return `cannot start "${program}": ${message}`;
  }
}

/** How a process that has given its final result comes to its end. */
interface FinalResult {
  /** Asks whether it has; to be called after every output. */
  look(): void;
  isGiven(): boolean;
  cancel(): void;
}

/** After the final result nothing more is said to the process, and it has so long to exit by itself. */
function awaitFinalResult(
  isOver: () => boolean,
  stdin: Writable | null,
  exitMs: number,
  onLate: () => void,
): FinalResult {
  let timer: AwakeTimer | null = null;
  let isCancelled = false;
  return {
    look() {
      if (isCancelled) return;
      if (!isOver()) {
        // Another turn has begun.
        timer?.cancel();
        timer = null;
        return;
      }
      if (timer !== null) return;
      stdin?.end();
      timer = startAwakeTimer(exitMs, onLate);
    },
    isGiven: () => timer !== null,
    cancel() {
      isCancelled = true;
      timer?.cancel();
    },
  };
}

/** Lets git tidy up (`gc --auto`) in the foreground: in the background it would be killed each time. */
export function gitInForeground(env: Readonly<NodeJS.ProcessEnv>): Record<string, string> {
  return settingVariables(env, { "gc.autoDetach": "false", "maintenance.autoDetach": "false" });
}

export interface Said {
  readonly isWell: boolean;
  /** Null when it did not start, or was ended. */
  readonly code: number | null;
  /** What it printed; the last line of its complaint when it failed. */
  readonly words: string;
}

const PATIENCE_MS = 120_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

/** Runs a program to its end, without a shell and not for ever. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs = PATIENCE_MS }: Question,
): Promise<Said> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: timeoutMs, maxBuffer: OUTPUT_MAX };
    execFile(program, args, options, (error, stdout, stderr) => {
      const complaint = stderr.trim().split("\n").at(-1) ?? "";
      resolve(
        error === null
          ? { isWell: true, code: 0, words: stdout.trim() }
          : {
              isWell: false,
              code: typeof error.code === "number" ? error.code : null,
              words: complaint || error.message,
            },
      );
    });
  });
}

interface Question {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

const ANSWER_MS = 15_000;
const ANSWER_GRACE_MS = 500;
const ANSWER_BYTES_MAX = 64 * 1024;

/** What a program prints, as plain text; null when it prints nothing, fails, or takes too long. Nothing of it is left. */
export async function askProgram(
  program: string,
  args: readonly string[],
  { cwd, env, timeoutMs = ANSWER_MS }: Question,
): Promise<string | null> {
  const printed: Buffer[] = [];
  let bytes = 0;
  const { ending } = await supervise(
    {
      command: [program, ...args],
      cwd,
      env,
      marker: randomUUID(),
      timeoutMs,
      graceMs: ANSWER_GRACE_MS,
      onStdout(chunk) {
        if (bytes < ANSWER_BYTES_MAX) printed.push(chunk);
        bytes += chunk.length;
      },
      onStderr: () => {},
    },
    new AbortController().signal,
  );
  const said = stripEscapes(Buffer.concat(printed).toString("utf8")).trim();
  return ending.is === "exited" && ending.code === 0 && said !== "" ? said : null;
}
