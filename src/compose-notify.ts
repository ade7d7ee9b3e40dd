import { hostname } from "node:os";
import { basename, join } from "node:path";
import { commandChannel } from "./adapters/notify/command-channel.ts";
import { deliveredFile } from "./adapters/notify/delivered-file.ts";
import { desktopChannel, desktopProgram } from "./adapters/notify/desktop-channel.ts";
import { webhookChannel } from "./adapters/notify/webhook-channel.ts";
import { pluginChannel } from "./adapters/plugins/advisers.ts";
import { systemClock } from "./adapters/system/system-clock.ts";
import type { Plugins } from "./compose-plugins.ts";
import { OWN_ROOT, type Project } from "./compose-project.ts";
import { secretsOf } from "./compose-store.ts";
import type { Sending } from "./core/notices/notice.ts";
import { createRedactor, withoutOwnSecrets } from "./core/redact.ts";
import type { Commands } from "./core/settings.ts";
import type { Channel, Log } from "./engine/ports.ts";
import { Notifier } from "./engine/notify/notifier.ts";

export { desktopProgram };

export interface NotifyParts {
  readonly project: Project;
  readonly commands: Commands;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly plugins?: Plugins;
}

/** Every way to reach a person that is configured. */
export function channelsOf(parts: NotifyParts): readonly Channel[] {
  const { project, commands, env, version, plugins } = parts;
  const { notify } = commands;
  if (notify === undefined) return [];
  const name = basename(project.root);
  const sending = (): Sending => ({ project: name, host: hostname(), now: Date.now() });
  const redact = createRedactor(secretsOf(project, env, commands));
  const outside = { cwd: project.root, env: withoutOwnSecrets(env) };
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

export interface NotifierOptions extends NotifyParts {
  readonly log: Log;
  readonly worker?: string;
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

export function notifierOf(options: NotifierOptions): Notifier {
  const { project, commands, log, worker, warn, note } = options;
  return new Notifier({
    channels: channelsOf(options),
    kinds: commands.notify?.on ?? [],
    delivered: deliveredFile(
      join(project.stateFolder, "notified.json"),
      project.queue === null ? project.stateFile : "the queue",
    ),
    log,
    clock: systemClock,
    ...(worker !== undefined && { worker }),
    warn,
    note,
  });
}
