import { plainText, userMessage, type Message } from "./conversation.ts";
import type { Failure } from "./reply.ts";
import {
  epochSeconds,
  newId,
  pieces,
  type HttpFailure,
  type ServerEvent,
  type Turn,
  type WireFormat,
} from "./wire-format.ts";

interface MessagesRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly system?: unknown;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly content?: unknown;
}

export const anthropicMessages: WireFormat = {
  path: /\/messages$/,
  read(body) {
    const { model = "", system, tools = [], messages = [] } = body as MessagesRequest;
    return {
      model,
      tools: tools.map(({ name }) => ({ name })),
      messages: [{ role: "system", text: plainText(system) }, ...messages.flatMap(readMessage)],
    };
  },
  wantsStream: (body) => (body as MessagesRequest).stream === true,
  answer(turn) {
    const message = wholeMessage(turn);
    return { whole: message, events: streamed(message) };
  },
  failure: httpFailure,
};

function readMessage({
  role,
  content,
}: NonNullable<MessagesRequest["messages"]>[number]): readonly Message[] {
  if (role === "assistant") return [{ role: "assistant", text: plainText(content) }];
  if (role === "system") return [{ role: "system", text: plainText(content) }];
  if (typeof content === "string") return [userMessage(content)];
  // Text beside the results of tools is part of the running turn.
  const hasResults = content.some(({ type }) => type === "tool_result");
  return content.map((block) => {
    if (block.type === "tool_result") return { role: "tool", text: plainText(block.content) };
    const text = block.text ?? "";
    return hasResults ? { role: "system", text } : userMessage(text);
  });
}

type WholeMessage = ReturnType<typeof wholeMessage>;

function wholeMessage({ model, say, calls, usage, isCutOff }: Turn) {
  const uses = calls.map(({ name, input }) => ({
    type: "tool_use" as const,
    id: newId("toolu_"),
    name,
    input,
  }));
  return {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    model,
    content: [...(say === "" ? [] : [{ type: "text" as const, text: say }]), ...uses],
    stop_reason: isCutOff ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: usage.output,
      service_tier: "standard",
    },
  };
}

function streamed(message: WholeMessage): readonly ServerEvent[] {
  const { usage, stop_reason } = message;
  return [
    event("message_start", {
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    }),
    ...message.content.flatMap(streamedBlock),
    event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage }),
    event("message_stop", {}),
  ];
}

function streamedBlock(block: WholeMessage["content"][number], index: number): readonly ServerEvent[] {
  const isText = block.type === "text";
  const deltas = isText
    ? pieces(block.text).map((text) => ({ type: "text_delta", text }))
    : [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  const empty = isText ? { ...block, text: "" } : { ...block, input: {} };
  return [
    event("content_block_start", { index, content_block: empty }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ];
}

function event(type: string, data: object): ServerEvent {
  return { event: type, data: { type, ...data } };
}

function httpFailure(failure: Failure, resetsAt: Date): HttpFailure {
  const error = (status: number, type: string, message: string, headers = {}): HttpFailure => ({
    status,
    headers: { "request-id": newId("req_"), ...headers },
    body: { type: "error", error: { type, message }, request_id: "req_scripted" },
  });
  switch (failure) {
    case "unauthorized":
      return error(401, "authentication_error", "invalid x-api-key");
    case "rate-limited":
      return error(
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
        { "retry-after": "2" },
      );
    case "overloaded":
      return error(529, "overloaded_error", "Overloaded");
    case "usage-limit":
      return error(
        429,
        "rate_limit_error",
        "This request would exceed your account's rate limit. Please try again later.",
        usageLimitHeaders(resetsAt),
      );
    case "no-credit":
      return error(
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
      );
    case "unknown-model":
      return error(404, "not_found_error", "model: claude-9");
    case "too-long":
      return error(400, "invalid_request_error", "prompt is too long: 214516 tokens > 200000 maximum");
  }
}

function usageLimitHeaders(resetsAt: Date): Readonly<Record<string, string>> {
  const reset = String(epochSeconds(resetsAt));
  return {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": reset,
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-reset": reset,
    "anthropic-ratelimit-unified-5h-utilization": "1.0",
    "anthropic-ratelimit-unified-overage-status": "rejected",
    "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
    "retry-after": String(epochSeconds(resetsAt) - epochSeconds(new Date())),
    "x-should-retry": "false",
  };
}
