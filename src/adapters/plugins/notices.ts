import { hostname } from "node:os";
import { basename } from "node:path";
import type { Recorded } from "../../core/events.ts";
import { isoTime } from "../../core/time.ts";
import { toWire } from "../../core/wire.ts";
import type { Follower } from "../../engine/ports.ts";
import type { Part } from "./advisers.ts";
import { askPlugin, messageOf } from "./ask-plugin.ts";
import type { PluginNotice, PluginNotifier } from "./plugin.ts";

/** Tells notifiers of plugins what people should know. A run does not wait for them, except a little at its end. */
export interface Notices extends Follower {
  finish(): Promise<void>;
}

const LIMIT_MS = 30_000;

export function noticesFor(
  notifiers: readonly Part<PluginNotifier>[],
  { root, warn }: { readonly root: string; readonly warn: (text: string) => void },
): Notices {
  let sending = Promise.resolve();
  const send = async (notice: PluginNotice): Promise<void> => {
    for (const { part, does } of notifiers) {
      if (does.on !== undefined && !does.on.includes(notice.kind)) continue;
      try {
        await askPlugin(part, LIMIT_MS, (signal) => does.notify(notice, signal));
      } catch (error) {
        warn(`${messageOf(error)}; the notice was: ${notice.text}`);
      }
    }
  };
  return {
    follow(event) {
      const notice = noticeOf(event, basename(root));
      if (notice !== null) sending = sending.then(() => send(notice));
      return Promise.resolve();
    },
    // Each of them has its time limit.
    finish: () => sending,
  };
}

type Words = Pick<PluginNotice, "kind" | "text" | "command">;

function noticeOf(event: Recorded, project: string): PluginNotice | null {
  const words = wordsFor(event);
  if (words === null) return null;
  const { run = null, task = null } = event as { run?: string | null; task?: string | null };
  return {
    schema: "ralph.notice.v1",
    id: `${run ?? "run"}-${event.position}`,
    at: isoTime(event.at),
    sent_at: isoTime(Date.now()),
    project,
    host: hostname(),
    run,
    task,
    ...words,
    event: toWire(event),
  };
}

function wordsFor(event: Recorded): Words | null {
  switch (event.type) {
    case "task.blocked":
      return {
        kind: "blocked",
        text: `${event.task} is blocked: ${event.reason}`,
        command: `ralph unblock ${event.task}`,
      };
    case "question.asked":
      return {
        kind: "decide",
        text: `${event.task} asks: ${event.question}`,
        command: `ralph decide ${event.task} "…"`,
      };
    case "budget.reached":
      return {
        kind: "budget",
        text: "the budget is spent: no further iteration begins",
        command: "ralph status",
      };
    case "run.ended":
      return endOf(event.outcome, event.reason);
    default:
      return null;
  }
}

/** What was told by a fact of its own is not told again, and a person who stopped it knows. */
function endOf(outcome: Extract<Recorded, { type: "run.ended" }>["outcome"], reason: string): Words | null {
  if (["blocked", "undecided", "stopped"].includes(outcome)) return null;
  if (outcome === "completed") return { kind: "done", text: `the run is done: ${reason}`, command: null };
  const kind = outcome === "stuck" ? "stuck" : outcome === "limited" ? "limit" : "ended";
  return { kind, text: `the run has ended: ${reason}`, command: "ralph why" };
}
