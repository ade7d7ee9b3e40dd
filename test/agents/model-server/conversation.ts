/** What a client sent, in words that all the wire formats share. */
export interface Conversation {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
}

export interface Message {
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  /** Some clients put the tools of an MCP server into a namespace of their own. */
  readonly namespace?: string;
  /** Takes plain text instead of JSON. */
  readonly isFreeform?: boolean;
}

/** What the person, or the program that started the client, said last. */
export function lastUserText(messages: readonly Message[]): string {
  return messages.findLast(({ role }) => role === "user")?.text ?? "";
}

/** Results of tools since the user spoke last: how far the work has come, whatever was retried or resumed. */
export function resultsSinceUser(messages: readonly Message[]): readonly string[] {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(asked + 1)
    .filter(({ role }) => role === "tool")
    .map(({ text }) => text);
}

/** What clients add in the user's name counts as the system's. */
export function userMessage(text: string): Message {
  const isAdded =
    /^\s*<(system-reminder|environment_context|user_instructions|INSTRUCTIONS|permissions|session_context)/.test(
      text,
    ) || text.startsWith("# AGENTS.md");
  return { role: isAdded || text.trim() === "" ? "system" : "user", text: text.trim() };
}

/** Content comes as a string, as parts with texts, or as any other JSON. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((part) => partText(part)).join("");
  return content == null ? "" : JSON.stringify(content);
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  const text = (part as { text?: unknown } | null)?.text;
  return typeof text === "string" ? text : "";
}

/** Every client tells the model where it works, each in words of its own; empty when none are known. */
export function workingDirectory(messages: readonly Message[]): string {
  for (const { role, text } of messages) {
    if (role !== "system") continue;
    const place = /(?:working directory|workspace directories|<cwd>)[^/]{0,12}(\/[^\s<"'`,]+)/i.exec(
      text,
    )?.[1];
    if (place !== undefined) return place.replace(/[.)]+$/, "");
  }
  return "";
}
