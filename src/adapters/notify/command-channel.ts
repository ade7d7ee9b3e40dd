import { randomUUID } from "node:crypto";
import { noticeJson, type Sending } from "../../core/views/notice.ts";
import type { Ending } from "../../core/streams/agent-report.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { Channel, Delivery } from "../../engine/ports.ts";
import { createOutputTail } from "../process/line-splitter.ts";
import { outsidePath } from "../process/safe-path.ts";
import { supervise } from "../process/supervise.ts";

const LIMIT_MS = 30 * SECOND_MS;
const GRACE_MS = 2 * SECOND_MS;
/** The environment has little room; all of it is on stdin. */
const VARIABLE_LENGTH_MAX = 4_000;
export interface CommandOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly redact: (text: string) => string;
  /** Where ralph itself is installed: its programs are not the operator's. */
  readonly ownRoot: string;
  readonly sending: () => Sending;
  readonly limitMs?: number;
}

/** The operator's own command, read by the shell, with the notice on its stdin; it runs once for each. */
export function commandChannel(options: CommandOptions): Channel {
  const { command, cwd, env, redact, ownRoot, sending, limitMs = LIMIT_MS } = options;
  return {
    name: "command",
    shown: "notify.command",
    async send(notice) {
      const tail = createOutputTail();
      // Nobody's impatience ends it: what has begun would be done twice.
      const { ending } = await supervise(
        {
          command: ["sh", "-c", command],
          cwd,
          env: {
            ...env,
            PATH: outsidePath(env["PATH"], ownRoot),
            RALPH_NOTICE_KIND: notice.kind,
            RALPH_NOTICE_TEXT: notice.text.slice(0, VARIABLE_LENGTH_MAX).replaceAll("\0", ""),
          },
          marker: randomUUID(),
          input: `${JSON.stringify(noticeJson(notice, sending()))}\n`,
          timeoutMs: limitMs,
          graceMs: GRACE_MS,
          onStdout: (chunk) => tail.take(chunk),
          onStderr: (chunk) => tail.take(chunk),
        },
        new AbortController().signal,
      );
      return deliveryOf(ending, lastLine(tail.text(redact)));
    },
  };
}

function deliveryOf(ending: Ending, said: string): Delivery {
  if (ending.is === "exited" && ending.code === 0) return { is: "delivered" };
  return { is: "refused", why: `${inWords(ending)}${said === "" ? "" : `: ${said}`}` };
}

function inWords(ending: Ending): string {
  switch (ending.is) {
    case "exited":
      return `it exited with ${ending.code}`;
    case "timed-out":
      return `it took longer than ${ending.afterMs / SECOND_MS} s`;
    case "signalled":
      return `it was ended by ${ending.signal}`;
    case "not-started":
      return ending.message;
    default:
      return "it was ended";
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}
