import { plainText, userMessage, type Message } from "./conversation.ts";
import { openaiFailure } from "./openai-failure.ts";
import { epochSeconds, newId, pieces, type Turn, type WireFormat } from "./wire-format.ts";

interface ChatRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
  readonly messages?: readonly { readonly role: string; readonly content?: unknown }[];
}

export const openaiChat: WireFormat = {
  path: /\/chat\/completions$/,
  read(body) {
    const { model = "", tools = [], messages = [] } = body as ChatRequest;
    return {
      model,
      tools: tools.flatMap((tool) => (tool.function === undefined ? [] : [{ name: tool.function.name }])),
      messages: messages.map(readMessage),
    };
  },
  wantsStream: (body) => (body as ChatRequest).stream === true,
  answer(turn) {
    const toolCalls = turn.calls.map(({ name, input }) => ({
      id: newId("call_"),
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const finish = turn.isCutOff ? "length" : toolCalls.length > 0 ? "tool_calls" : "stop";
    const head = { id: newId("chatcmpl-"), created: epochSeconds(new Date()), model: turn.model };
    const message = {
      role: "assistant",
      content: turn.say === "" ? null : turn.say,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    const chunk = (choices: readonly unknown[], extra: object = {}) => ({
      data: { ...head, object: "chat.completion.chunk", choices, ...extra },
    });
    const delta = (delta: object, finish_reason: string | null = null) =>
      chunk([{ index: 0, delta, finish_reason }]);
    return {
      whole: {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason: finish }],
        usage: usageOf(turn),
      },
      events: [
        delta({ role: "assistant", content: "" }),
        ...pieces(turn.say).map((content) => delta({ content })),
        ...toolCalls.map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
        delta({}, finish),
        chunk([], { usage: usageOf(turn) }),
        { data: "[DONE]" },
      ],
    };
  },
  failure: openaiFailure,
};

function readMessage({ role, content }: NonNullable<ChatRequest["messages"]>[number]): Message {
  const text = plainText(content);
  if (role === "user") return userMessage(text);
  return { role: role === "assistant" || role === "tool" ? role : "system", text };
}

function usageOf({ usage }: Turn) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
