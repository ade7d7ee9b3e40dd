import { randomUUID } from "node:crypto";
import { inWords, type Notice } from "../../core/views/notice.ts";
import type { Channel } from "../../engine/ports.ts";
import { SECOND_MS } from "../../core/time.ts";
import { supervise } from "../process/supervise.ts";

const LIMIT_MS = 10 * SECOND_MS;

export interface DesktopOptions {
  readonly project: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export function desktopChannel({ project, cwd, env }: DesktopOptions): Channel {
  return {
    name: "desktop",
    shown: "this machine",
    async send(notice, signal) {
      const command = desktopCommand(process.platform, notice, project);
      const { ending } = await supervise(
        {
          command,
          cwd,
          env,
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
      const why = ending.is === "not-started" ? ending.message : `${desktopProgram()} failed`;
      return { is: "refused", why };
    },
  };
}

/** What has to be installed for it. */
export function desktopProgram(): string {
  return process.platform === "darwin" ? "osascript" : "notify-send";
}

/** Shows a notice. No shell reads any of it. */
export function desktopCommand(
  platform: NodeJS.Platform,
  notice: Notice,
  project: string,
): readonly [program: string, ...args: string[]] {
  const title = plain(`ralph · ${project}`);
  const text = plain(inWords(notice));
  if (platform === "darwin") return ["osascript", ...APPLESCRIPT, title, text];
  const isUrgent = ["decide", "blocked", "stuck"].includes(notice.kind);
  // It reads its text as markup.
  const markup = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const urgency = `--urgency=${isUrgent ? "critical" : "normal"}`;
  return ["notify-send", "--app-name=ralph", urgency, "--", title, markup];
}

const TEXT_LENGTH_MAX = 500;

/** No character that would end an argument, and no more than a desktop shows. */
function plain(text: string): string {
  const clean = text.replaceAll(/[^\P{Cc}\n\t]/gu, " ");
  return clean.length > TEXT_LENGTH_MAX ? `${clean.slice(0, TEXT_LENGTH_MAX)}…` : clean;
}

/** What follows are arguments of the script, not part of it. */
const SHOW = "display notification (item 2 of argv) with title (item 1 of argv)";
const APPLESCRIPT = ["-e", "on run argv", "-e", SHOW, "-e", "end run", "--"];
