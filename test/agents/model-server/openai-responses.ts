import { plainText, userMessage, type Message, type Tool } from "./conversation.ts";
import { openaiFailure } from "./openai-failure.ts";
import type { ToolCall } from "./tool-call.ts";
import { epochSeconds, newId, pieces, type ServerEvent, type Turn, type WireFormat } from "./wire-format.ts";

interface ResponsesRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly instructions?: string;
  readonly tools?: readonly DeclaredTool[];
  readonly input?: string | readonly InputItem[];
}

interface DeclaredTool {
  readonly type: string;
  readonly name?: string;
  /** The tools of a namespace. */
  readonly tools?: readonly DeclaredTool[];
}

interface InputItem {
  readonly type?: string;
  readonly role?: string;
  readonly name?: string;
  readonly call_id?: string;
  readonly content?: unknown;
  readonly output?: unknown;
  /** What a search for tools has found. */
  readonly tools?: readonly DeclaredTool[];
}

export const openaiResponses: WireFormat = {
  path: /\/responses$/,
  read(body) {
    const { model = "", instructions = "", tools = [], input = [] } = body as ResponsesRequest;
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    const found = items.flatMap((item) => (item.type === "tool_search_output" ? (item.tools ?? []) : []));
    return {
      model,
      tools: [...tools, ...found].flatMap(readTool),
      messages: [{ role: "system", text: instructions }, ...readItems(items)],
    };
  },
  wantsStream: (body) => (body as ResponsesRequest).stream === true,
  answer(turn) {
    const output = outputItems(turn);
    const begun = {
      id: newId("resp_"),
      object: "response",
      created_at: epochSeconds(new Date()),
      model: turn.model,
      status: "in_progress",
      output: [] as readonly object[],
      usage: null as object | null,
      error: null,
      parallel_tool_calls: false,
      tool_choice: "auto",
    };
    const status = turn.isCutOff ? "incomplete" : "completed";
    const cut = turn.isCutOff && { incomplete_details: { reason: "max_output_tokens" } };
    const whole = { ...begun, status, ...cut, output, usage: usageOf(turn) };
    const events = [
      event("response.created", { response: begun }),
      event("response.in_progress", { response: begun }),
      ...output.flatMap(streamedItem),
      event(`response.${status}`, { response: whole }),
    ];
    return { whole, events: events.map(numbered) };
  },
  failure: openaiFailure,
};

function readTool(tool: DeclaredTool): readonly Tool[] {
  if (tool.type !== "namespace") {
    return [{ name: tool.name ?? tool.type, ...(tool.type === "custom" && { isFreeform: true }) }];
  }
  const namespace = tool.name ?? "";
  return (tool.tools ?? []).map(({ name = "" }) => ({ name, namespace }));
}

function readItems(items: readonly InputItem[]): readonly Message[] {
  const callNames = new Map(
    items.map(({ call_id, name }) => [call_id, name] as const).filter(([, name]) => name),
  );
  const messages: Message[] = [];
  for (const item of items) {
    const message = readItem(item);
    if (message === undefined) continue;
    // To go on waiting for a command is no step of its own.
    if (message.role === "tool" && callNames.get(item.call_id) === "write_stdin") messages.pop();
    messages.push(message);
  }
  return messages;
}

function readItem({ type = "message", role, content, output }: InputItem): Message | undefined {
  if (type === "function_call_output" || type === "custom_tool_call_output") {
    const inner = (output as { content?: unknown } | null)?.content;
    return { role: "tool", text: plainText(inner ?? output) };
  }
  if (type !== "message") return undefined;
  const text = plainText(content);
  if (role === "user") return userMessage(text);
  return { role: role === "assistant" ? role : "system", text };
}

type OutputItem = ReturnType<typeof messageItem> | ReturnType<typeof callItem>;

function outputItems({ say, calls }: Turn): readonly OutputItem[] {
  return [...(say === "" ? [] : [messageItem(say)]), ...calls.map(callItem)];
}

function messageItem(text: string) {
  return {
    type: "message" as const,
    id: newId("msg_"),
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

function callItem({ name, namespace, input }: ToolCall) {
  const call = { id: newId("item_"), call_id: newId("call_"), status: "completed" };
  if (name === "tool_search") {
    return { type: "tool_search_call" as const, ...call, execution: "client", arguments: input };
  }
  if (typeof input === "string") return { type: "custom_tool_call" as const, ...call, name, input };
  const place = namespace !== undefined && { namespace };
  return { type: "function_call" as const, ...call, name, ...place, arguments: JSON.stringify(input) };
}

function streamedItem(item: OutputItem, output_index: number): readonly ServerEvent[] {
  const at = { output_index, item_id: item.id };
  const done = event("response.output_item.done", { output_index, item });
  const added = (emptied: object): ServerEvent =>
    event("response.output_item.added", {
      output_index,
      item: { ...item, status: "in_progress", ...emptied },
    });
  switch (item.type) {
    case "message":
      return [added({ content: [] }), ...streamedText(item, at), done];
    case "function_call":
      return [
        added({ arguments: "" }),
        event("response.function_call_arguments.delta", { ...at, delta: item.arguments }),
        event("response.function_call_arguments.done", { ...at, arguments: item.arguments }),
        done,
      ];
    case "custom_tool_call":
      return [added({ input: "" }), done];
    case "tool_search_call":
      return [added({}), done];
  }
}

function streamedText({ content }: ReturnType<typeof messageItem>, at: object): readonly ServerEvent[] {
  return content.flatMap((part, content_index) => [
    event("response.content_part.added", { ...at, content_index, part: { ...part, text: "" } }),
    ...pieces(part.text).map((delta) => event("response.output_text.delta", { ...at, content_index, delta })),
    event("response.output_text.done", { ...at, content_index, text: part.text }),
    event("response.content_part.done", { ...at, content_index, part }),
  ]);
}

function event(type: string, data: object): { readonly event: string; readonly data: object } {
  return { event: type, data: { type, ...data } };
}

function numbered({ event, data }: ServerEvent, sequence_number: number): ServerEvent {
  return { ...(event !== undefined && { event }), data: { ...(data as object), sequence_number } };
}

function usageOf({ usage }: Turn) {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
