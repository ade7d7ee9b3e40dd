import { asArgument, asWords } from "../text.ts";
import { isBlockedOutside } from "../loop/outcome.ts";
import type { EventOf, EventType, Recorded } from "../events.ts";
import type { State } from "../state.ts";
import { AGENT_LIMITED } from "../loop/task-status.ts";
import { count, spentInWords } from "./explain-words.ts";
import { choiceInWords } from "./inbox.ts";
import { OUTCOME_WORDS } from "./signs.ts";
import { scopeOf } from "./status.ts";
import { type Instant, isoTime } from "../time.ts";
import { toWire } from "../wire.ts";

export const NOTICE_KINDS = ["done", "blocked", "decide", "stuck", "budget", "limit", "ended"] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** What a person who is elsewhere is told about one fact. */
export interface Notice {
  /** The same however often it is sent. */
  readonly id: string;
  readonly position: number;
  readonly kind: NoticeKind | "test";
  readonly at: Instant;
  readonly run: string | null;
  readonly task: string | null;
  /** One sentence. */
  readonly text: string;
  /** What to type next; null when there is nothing to do. */
  readonly command: string | null;
  /** The fact itself, as scripts see it. */
  readonly event: Readonly<Record<string, unknown>> | null;
}

/** The notice that a fact is worth, if any; `state` is the one after it, or a later one. */
export function noticeOf(event: Recorded, state: State): Notice | null {
  // The table has a teller for the type of the event, which the compiler cannot see here.
  const tell = TELLERS[event.type] as ((event: Recorded, state: State) => Words | null) | undefined;
  const words = tell?.(event, state) ?? null;
  if (words === null) return null;
  const { run = null, task = null } = event as { run?: string | null; task?: string | null };
  const { position, at } = event;
  return { id: `${run ?? "run"}-${position}`, position, at, run, task, event: toWire(event), ...words };
}

type Words = Pick<Notice, "kind" | "text" | "command">;

type Tellers = {
  readonly [Type in EventType]?: (event: Recorded<EventOf<Type>>, state: State) => Words | null;
};

const TELLERS: Tellers = {
  "question.asked": (event) => {
    const choice = choiceInWords(event, event.at).replaceAll("   ", "; ");
    const text = `${event.task} asks: ${event.question}${choice === "" ? "" : ` (${choice})`}`;
    const command = `ralph decide ${asArgument(event.task)} ${asWords(event.options[0] ?? "…")}`;
    return { kind: "decide", text, command };
  },
  "task.blocked": ({ task, reason, isStuck }) =>
    isStuck === true
      ? { kind: "stuck", text: `${task} is stuck: ${reason}`, command: `ralph why ${asArgument(task)}` }
      : blocked(task, `is blocked: ${reason}`),
  "worktree.failed": ({ task, why }) => blocked(task, `is blocked: its worktree could not be set up: ${why}`),
  "merge.held": ({ task, why }) => blocked(task, `is done and waits to be merged: ${why}`),
  "breaker.moved": ({ to, reason }, { run }) =>
    // Such a run does not end by itself when nobody can go on.
    to === "OPEN" && run?.settings.shared === true ? stuck(`the breaker is open: ${reason}`) : null,
  "budget.neared": (event) => budget(spentInWords(event)),
  "budget.reached": (event) => budget(`${spentInWords(event)}: no further iteration begins`),
  "calls.exhausted": (event, { run }) => {
    // With `--no-wait` its end tells of the limit.
    const endsInstead = run?.id === event.run && run.settings.noWait;
    return endsInstead ? null : limit("the calls of this hour are used up", event.until);
  },
  "wait.started": ({ until, why }) => (until !== null && why === AGENT_LIMITED ? limit(why, until) : null),
  "run.ended": end,
};

/** Facts that may be worth a notice; whoever records one in a shared run is named in it, and tells it. */
export const NOTICE_EVENTS = Object.keys(TELLERS) as readonly EventType[];

function budget(text: string): Words {
  return { kind: "budget", text, command: "ralph status" };
}

function blocked(task: string, how: string): Words {
  return { kind: "blocked", text: `${task} ${how}`, command: `ralph unblock ${asArgument(task)}` };
}

function stuck(reason: string): Words {
  return { kind: "stuck", text: `the run is stuck: ${reason}`, command: "ralph why" };
}

function limit(why: string, until: Instant): Words {
  const text = `the run waits: ${why}; it goes on at ${isoTime(until)}`;
  return { kind: "limit", text, command: "ralph status" };
}

/** What was told by a fact of its own is not told again, and a person who stopped it knows. */
function end(event: EventOf<"run.ended">, state: State): Words | null {
  const run = state.run?.id === event.run ? state.run : null;
  const { tasks, done } = scopeOf(state);
  const reason =
    run === null ? event.reason : `${event.reason} (${done} of ${count(tasks.length, "task")} done)`;
  const { command } = OUTCOME_WORDS[event.outcome];
  const ended = { kind: "ended", text: `the run has ended: ${reason}`, command } as const;
  switch (event.outcome) {
    case "completed":
      return { kind: "done", text: `the run is done: ${reason}`, command };
    case "stuck":
      return stuck(reason);
    case "limited":
      if (run !== null && run.budgetReached === event.reason) return null;
      return { ...ended, kind: /\bbudget\b/.test(event.reason) ? "budget" : "limit" };
    case "blocked":
    case "undecided":
      if (run !== null && isBlockedOutside(state)) return { ...ended, command: "ralph why" };
      // What was told of the only task is all that there is to tell.
      return run === null || !run.settings.keepGoing || tasks.length === 1 ? null : ended;
    case "exhausted":
    case "misconfigured":
      return ended;
    case "stopped":
      return null;
  }
}

export type PayloadFormat = "json" | "slack" | "discord";

/** Where a notice comes from, and when it leaves. */
export interface Sending {
  /** The repository's name. */
  readonly project: string;
  readonly host: string;
  readonly now: Instant;
}

/** The body of a notice, in the form that its receiver wants. */
export function payload(format: PayloadFormat, notice: Notice, sending: Sending): string {
  switch (format) {
    case "json":
      return JSON.stringify(noticeJson(notice, sending));
    case "slack":
      return JSON.stringify({ text: inSlack(notice, sending.project) });
    case "discord": {
      const content = inDiscord(notice, sending.project);
      // Whoever is named in a text of an agent's is not called.
      return JSON.stringify({ content, allowed_mentions: { parse: [] } });
    }
  }
}

/** The names are part of the public contract. */
export function noticeJson(notice: Notice, { project, host, now }: Sending): Record<string, unknown> {
  const { position: _, at, ...told } = notice;
  return { schema: "ralph.notice.v1", ...told, at: isoTime(at), sent_at: isoTime(now), project, host };
}

/** For a person: the title, and what to know and to type. */
export function inWords({ text, command }: Notice): string {
  return command === null ? text : `${text}\n→ ${command}`;
}

const SLACK_LENGTH_MAX = 3_000;
const DISCORD_LENGTH_MAX = 2_000;

function inSlack(notice: Notice, project: string): string {
  const plain = cut(`${project}: ${notice.text}`, SLACK_LENGTH_MAX);
  const command = notice.command === null ? "" : `\n→ \`${escapeSlack(notice.command)}\``;
  return `${escapeSlack(plain)}${command}`;
}

function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function inDiscord(notice: Notice, project: string): string {
  const command = notice.command === null ? "" : `\n→ \`${notice.command}\``;
  return cut(`**${project}**: ${notice.text}`, DISCORD_LENGTH_MAX - command.length) + command;
}

/** Not through the middle of a character. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  return `${/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
