import { hostname } from "node:os";
import { basename, join } from "node:path";
import { deleteOldTexts } from "../adapters/files/ralph-folder.ts";
import { Logbook } from "../adapters/files/logbook.ts";
import { commandChannel } from "../adapters/notify/command-channel.ts";
import { deliveredFile } from "../adapters/notify/delivered-file.ts";
import { desktopChannel } from "../adapters/notify/desktop-channel.ts";
import { webhookChannel } from "../adapters/notify/webhook-channel.ts";
import { pluginChannel } from "../adapters/plugins/advisers.ts";
import { systemClock } from "../adapters/process/system-clock.ts";
import { mayHaveTelemetry, otlpSettings } from "../adapters/telemetry/otlp-settings.ts";
import type { Telemetry } from "../adapters/telemetry/telemetry.ts";
import { RalphError, withHint } from "../core/errors.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { Commands } from "../core/settings.ts";
import { isOpen, type State } from "../core/state.ts";
import { PLAIN } from "../core/text.ts";
import { entryOfFact, logEntry, type Level, type LogEntry } from "../core/views/log-entry.ts";
import type { Sending } from "../core/views/notice.ts";
import { RunLines } from "../core/views/run-lines.ts";
import { Notifier } from "../engine/notify/notifier.ts";
import type { Channel, Follower, Log } from "../engine/ports.ts";
import { knownRedactor } from "../engine/secrets-seen.ts";
import type { Plugins } from "./plugins.ts";
import { OWN_ROOT, type Project, secretsOf } from "./project.ts";

interface FollowedRun {
  readonly project: Project;
  readonly log: Log;
  readonly commands: Commands;
  readonly plugins: Plugins;
  /** How many days transcripts and prompts are kept; 0: for ever. */
  readonly keepDays: number;
  readonly version: string;
  readonly verbose: boolean;
  /** Who this is, of several that share the run. */
  readonly worker?: string;
  /** To the person in front of it. */
  readonly say: (text: string) => void;
}

/** What hears of a run besides the screens: the logbook, people elsewhere, and a receiver of telemetry. None can hold it up. */
export interface RunFollowers {
  readonly followers: readonly Follower[];
  /** When the state is known, and nothing of this process is recorded yet. */
  start(state: State): Promise<void>;
  /** What ended the run, and is no fact. */
  failed(error: unknown): void;
  /** Waits a bounded time for what is still to be sent. */
  finish(): Promise<void>;
}

interface Told extends FollowedRun {
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

export async function followRun(run: FollowedRun): Promise<RunFollowers> {
  const { project, version, verbose, say, keepDays } = run;
  const logbook = new Logbook(project.ralphDir, {
    onTrouble: (why) => say(`what happens cannot be written to ralph.log: ${why}`),
  });
  const keep = (level: Level, text: string): void => logbook.write(logEntry(level, text, Date.now()));
  const warn = (text: string): void => {
    keep("warn", text);
    say(text);
  };
  const note = (text: string): void => {
    keep("debug", text);
    if (verbose) say(text);
  };
  const told = { ...run, warn, note };
  const notifier = notifierOf(told);
  const telemetry = await telemetryOf(told);
  return {
    followers: [
      logbookFollower((entries) => logbook.write(...entries)),
      notifier,
      ...(telemetry === null ? [] : [telemetry]),
    ],
    async start(state) {
      keep("info", `ralph ${version} begins, in ${project.root}`);
      const deleted = keepDays === 0 ? 0 : deleteTextsOlderThan(keepDays, project, state);
      if (deleted > 0) note(`${deleted} transcripts and prompts were older than ${keepDays} days: deleted`);
      await notifier.start(state);
    },
    failed(error) {
      keep("error", knownRedactor(project.env)(error instanceof Error ? error.message : String(error)));
    },
    async finish() {
      await Promise.all([notifier.finish(), telemetry?.finish()]);
    },
  };
}

const DAY_MS = 24 * 3_600_000;

/** Never those of a run that goes on. */
function deleteTextsOlderThan(days: number, { ralphDir }: Project, { run }: State): number {
  const before = Date.now() - days * DAY_MS;
  return deleteOldTexts(ralphDir, isOpen(run) ? Math.min(before, run.startedAt) : before);
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

/** Tells the person in front of the program, and the logbook, what goes wrong without ending it. */
export function warnerOf({ ralphDir, env, say }: Project): (text: string) => void {
  // A run reports by itself that the logbook cannot be written; before the first run there is no folder for it.
  const logbook = new Logbook(ralphDir, { onTrouble: () => {} });
  return (text) => {
    const told = knownRedactor(env)(text);
    say(told);
    logbook.write(logEntry("warn", told, Date.now()));
  };
}

/** Every way to reach a person that is configured. */
export function channelsOf({
  project,
  commands,
  version,
  plugins,
}: Pick<FollowedRun, "project" | "commands" | "version"> & Partial<FollowedRun>): readonly Channel[] {
  const { notify } = commands;
  if (notify === undefined) return [];
  const { root, env } = project;
  const name = basename(root);
  const sending = (): Sending => ({ project: name, host: hostname(), now: Date.now() });
  const redact = createRedactor(secretsOf(project, commands));
  const outside = { cwd: root, env: withoutOwnSecrets(env) };
  const { webhook, desktop, command } = notify;
  return [
    ...(webhook === null ? [] : [webhookChannel({ ...webhook, version, sending })]),
    ...(desktop ? [desktopChannel({ ...outside, project: name })] : []),
    ...(command === null
      ? []
      : [commandChannel({ ...outside, command, redact, ownRoot: OWN_ROOT, sending })]),
    ...(plugins?.notifiers ?? []).map((notifier) => pluginChannel(notifier, sending)),
  ];
}

function notifierOf(run: Told): Notifier {
  const { project, commands } = run;
  return new Notifier({
    ...run,
    channels: channelsOf(run),
    kinds: commands.notify?.on ?? [],
    delivered: deliveredFile(
      join(project.stateFolder, "notified.json"),
      project.queue === null ? project.stateFile : "the queue",
    ),
    clock: systemClock,
  });
}

/** Loaded only when somebody wants it. Variables that make no sense are no reason not to work. */
async function telemetryOf({ project, commands, ...run }: Told): Promise<Telemetry | null> {
  const { env, root } = project;
  if (!mayHaveTelemetry(env)) return null;
  try {
    const settings = otlpSettings(env);
    const { Telemetry } = await import("../adapters/telemetry/telemetry.ts");
    const { providersOf } = await import("../adapters/telemetry/otlp.ts");
    return new Telemetry({
      ...run,
      settings,
      resource: {
        "service.version": run.version,
        "host.name": hostname(),
        "process.pid": process.pid,
        "ralph.project": basename(root),
      },
      providerOf: providersOf(commands.agents),
    });
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    run.warn(`no telemetry is sent: ${withHint(error)}`);
    return null;
  }
}
