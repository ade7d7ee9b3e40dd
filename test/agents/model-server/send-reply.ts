import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./reply.ts";
import type { ServerEvent, Turn, WireFormat } from "./wire-format.ts";

const BETWEEN_EVENTS_MS = 5;
const USAGE_RESETS_MS = 3 * 3_600_000;

/** Sends what the model does in the format of the request. */
export async function sendReply(
  response: ServerResponse,
  format: WireFormat,
  reply: Reply,
  turn: Turn,
  isStream: boolean,
): Promise<void> {
  if (reply.is === "failure") return sendFailure(response, format, reply);
  const { whole, events } = format.answer(turn);
  const isCut = reply.is === "drop" || reply.is === "stall";
  if (isStream) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    await sendEvents(response, isCut ? events.slice(0, Math.floor(events.length / 2)) : events);
  }
  if (reply.is === "stall") return untilClosed(response);
  if (reply.is === "drop") return void response.destroy();
  if (isStream) return void response.end();
  return sendJson(response, 200, whole);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function sendFailure(
  response: ServerResponse,
  format: WireFormat,
  { failure, retryAfterSeconds }: Extract<Reply, { is: "failure" }>,
): void {
  const { status, headers, body } = format.failure(failure, new Date(Date.now() + USAGE_RESETS_MS));
  const wait = retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) };
  sendJson(response, status, body, { ...headers, ...wait });
}

async function sendEvents(response: ServerResponse, events: readonly ServerEvent[]): Promise<void> {
  for (const { event, data } of events) {
    if (response.destroyed) return;
    const name = event === undefined ? "" : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    await sleep(BETWEEN_EVENTS_MS);
  }
}

async function untilClosed(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await once(response, "close");
}
