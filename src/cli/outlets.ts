import { deleteOldTextsOf, logbookOf, mayHaveTelemetry, type Project } from "../compose.ts";
import { notifierOf } from "../compose-notify.ts";
import type { Plugins } from "../compose-plugins.ts";
import type { Telemetry, TelemetryParts } from "../compose-telemetry.ts";
import { entryOfFact, logEntry, type Level, type LogEntry } from "../core/logbook/log-entry.ts";
import type { State } from "../core/loop/state.ts";
import { RalphError } from "../core/ralph-error.ts";
import { createRedactor, secretsIn } from "../core/redact.ts";
import type { Commands } from "../core/settings.ts";
import type { Follower, Log } from "../engine/ports.ts";
import { secretsSeen } from "../engine/secrets-seen.ts";
import type { CliContext } from "./commands.ts";
import { RunLines } from "./print/run-lines.ts";
import { PLAIN } from "./print/style.ts";

export interface OutletOptions {
  readonly project: Project;
  readonly log: Log;
  readonly commands: Commands;
  readonly context: CliContext;
  readonly plugins: Plugins;
  /** How long what agents say is kept. */
  readonly keepDays: number;
  /** Who this is, of several that share the run. */
  readonly worker?: string;
  /** To the person in front of it. */
  readonly say: (text: string) => void;
}

/** Whoever hears of a run besides the screens: the logbook, people elsewhere, and a receiver of telemetry. None of them can hold it up. */
export interface Outlets {
  readonly followers: readonly Follower[];
  /** When the state is known, and nothing of this process is recorded yet. */
  start(state: State): Promise<void>;
  /** What ended the run, and is no fact. */
  failed(error: unknown): void;
  /** Waits a bounded time for what is still to be sent. */
  finish(): Promise<void>;
}

export async function openOutlets(options: OutletOptions): Promise<Outlets> {
  const { project, log, commands, context, plugins, worker, say, keepDays } = options;
  const logbook = logbookOf(project, (why) => say(`what happens cannot be written to ralph.log: ${why}`));
  const keep = (level: Level, text: string): void => logbook.write(logEntry(level, text, Date.now()));
  const warn = (text: string): void => {
    keep("warn", text);
    say(text);
  };
  const note = (text: string): void => {
    keep("debug", text);
    if (context.verbose) say(text);
  };
  const { env, version } = context;
  const own = worker === undefined ? {} : { worker };
  const notifier = notifierOf({ project, commands, plugins, log, env, version, ...own, warn, note });
  const telemetry = await telemetryOf({ project, commands, env, version, ...own, warn, note });
  return {
    followers: [
      logbookFollower((entries) => logbook.write(...entries)),
      notifier,
      ...(telemetry === null ? [] : [telemetry]),
    ],
    async start(state) {
      keep("info", `ralph ${version} begins, in ${project.root}`);
      const deleted = deleteOldTextsOf(project, keepDays, state);
      if (deleted > 0) note(`${deleted} transcripts and prompts were older than ${keepDays} days: deleted`);
      await notifier.start(state);
    },
    failed(error) {
      const redact = createRedactor([...secretsIn(env), ...secretsSeen()]);
      keep("error", redact(error instanceof Error ? error.message : String(error)));
    },
    async finish() {
      await Promise.all([notifier.finish(), telemetry?.finish()]);
    },
  };
}

/** Loaded only when somebody wants it. Variables that make no sense are no reason not to work. */
async function telemetryOf(parts: TelemetryParts): Promise<Telemetry | null> {
  if (!mayHaveTelemetry(parts.env)) return null;
  try {
    return (await import("../compose-telemetry.ts")).openTelemetry(parts);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    parts.warn(`no telemetry is sent: ${error.message}; ${error.hint ?? ""}`);
    return null;
  }
}

/** Every fact in words; those that came together are written together. */
function logbookFollower(write: (entries: readonly LogEntry[]) => void): Follower {
  const told = new RunLines(PLAIN);
  let entries: LogEntry[] = [];
  return {
    follow(event, state) {
      entries.push(entryOfFact(event, told.of(event, state)));
      return Promise.resolve();
    },
    settle() {
      write(entries);
      entries = [];
      return Promise.resolve();
    },
  };
}
