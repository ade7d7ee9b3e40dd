/** What the scripted model does with a request. */
export type Reply =
  | { readonly is: "text"; readonly text: string; readonly isCutOff?: boolean }
  | { readonly is: "actions"; readonly say: string; readonly actions: readonly Action[] }
  | { readonly is: "failure"; readonly failure: Failure; readonly retryAfterSeconds?: number }
  /** Begins to answer, then closes the connection. */
  | { readonly is: "drop" }
  /** Begins to answer, then sends nothing any more. */
  | { readonly is: "stall" };

export type Action =
  | { readonly does: "write"; readonly path: string; readonly content: string }
  | { readonly does: "shell"; readonly command: string; readonly inBackground?: boolean }
  /** By its exact name, which the client may not know. */
  | { readonly does: "call"; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly does: "mcp"; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

export type Failure =
  "unauthorized" | "rate-limited" | "overloaded" | "usage-limit" | "no-credit" | "unknown-model" | "too-long";

export const text = (words: string): Reply => ({ is: "text", text: words });

/** Ended in the middle by the limit of an answer's length. */
export const cutOff = (words: string): Reply => ({ is: "text", text: words, isCutOff: true });

export const write = (path: string, content = "hello from the scripted model\n"): Reply => ({
  is: "actions",
  say: `I write ${path}.`,
  actions: [{ does: "write", path, content }],
});

export const shell = (command: string): Reply => ({
  is: "actions",
  say: "I run a command.",
  actions: [{ does: "shell", command }],
});

/** A server that is not waited for, in the way that the client offers. */
export const serve = (command: string): Reply => ({
  is: "actions",
  say: "I start a server.",
  actions: [{ does: "shell", command, inBackground: true }],
});

export const call = (tool: string, args: Readonly<Record<string, unknown>>): Reply => ({
  is: "actions",
  say: `I call ${tool}.`,
  actions: [{ does: "call", tool, arguments: args }],
});

export const mcp = (tool: string, args: Readonly<Record<string, unknown>> = {}): Reply => ({
  is: "actions",
  say: `I call ${tool}.`,
  actions: [{ does: "mcp", tool, arguments: args }],
});

export const fail = (failure: Failure, retryAfterSeconds?: number): Reply => ({
  is: "failure",
  failure,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
});
