import { randomUUID } from "node:crypto";
import type { Channel } from "../../engine/ports.ts";
import { SECOND_MS } from "../../core/time.ts";
import { desktopCommand } from "../system/platform/desktop-command.ts";
import { supervise } from "../system/supervise.ts";

const LIMIT_MS = 10 * SECOND_MS;

export interface DesktopOptions {
  readonly platform: NodeJS.Platform;
  readonly project: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export function desktopChannel({ platform, project, cwd, env }: DesktopOptions): Channel {
  return {
    name: "desktop",
    shown: "this machine",
    async send(notice, signal) {
      const command = desktopCommand(platform, notice, project);
      if (command === null) return { is: "refused", why: `nobody knows how ${platform} shows one` };
      const { ending } = await supervise(
        {
          command: [command.program, ...command.args],
          cwd,
          env: { ...(env as Record<string, string>), ...command.env },
          marker: randomUUID(),
          timeoutMs: LIMIT_MS,
          graceMs: SECOND_MS,
          onStdout: () => {},
          onStderr: () => {},
        },
        signal,
      );
      if (ending.is === "exited" && ending.code === 0) return { is: "delivered" };
      if (ending.is === "stopped") return { is: "failed", why: "it was ended", retryAfterMs: null };
      const why = ending.is === "not-started" ? ending.message : `${command.program} failed`;
      return { is: "refused", why };
    },
  };
}
