import type { AgentAdapter } from "./agent-adapter.ts";
import { textAdapter } from "./text-adapter.ts";

/** The built-in demo agent: plain text, and it also takes messages, one JSON text a line. */
export const demoAdapter: AgentAdapter = {
  ...textAdapter,
  command(request) {
    const { command, input } = textAdapter.command(request);
    return { command: request.mayGetMessages ? [...command, "--messages"] : command, input };
  },
  messages: (text) => `${JSON.stringify(text)}\n`,
};
