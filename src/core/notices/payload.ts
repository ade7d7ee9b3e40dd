import { isoTime, type Instant } from "../time.ts";
import type { Notice } from "./notice.ts";

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
    case "discord":
      // Whoever is named in a text of an agent's is not called.
      return JSON.stringify({
        content: inDiscord(notice, sending.project),
        allowed_mentions: { parse: [] },
      });
  }
}

/** The names are part of the public contract. */
export function noticeJson(notice: Notice, { project, host, now }: Sending): Record<string, unknown> {
  const { id, kind, at, run, task, text, command, event } = notice;
  return {
    schema: "ralph.notice.v1",
    id,
    kind,
    at: isoTime(at),
    sent_at: isoTime(now),
    project,
    host,
    run,
    task,
    text,
    command,
    event,
  };
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
