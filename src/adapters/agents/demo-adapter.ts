import { withUsage, readDemoUsage, type DemoUsage } from "../../core/demo/demo-usage.ts";
import type { AgentAdapter, AgentReader, ReaderRequest } from "./agent-adapter.ts";
import { textAdapter } from "./text-adapter.ts";

/** The built-in demo agent: plain text, it tells what it used, and it takes messages, one JSON text a line. */
export const demoAdapter: AgentAdapter = {
  ...textAdapter,
  command(request) {
    const { command, input } = textAdapter.command(request);
    return { command: request.mayGetMessages ? [...command, "--messages"] : command, input };
  },
  messages: (text) => `${JSON.stringify(text)}\n`,
  createReader: createDemoReader,
  tellsUsage: true,
};

function createDemoReader(request: ReaderRequest): AgentReader {
  const words = textAdapter.createReader(request);
  let used: DemoUsage | null = null;
  return {
    ...words,
    stdoutLine(line) {
      const more = readDemoUsage(line);
      if (more === null) words.stdoutLine(line);
      else used = withUsage(used, more);
    },
    activity: () => ({ ...words.activity(), costUsd: used?.usage.costUsd ?? null }),
    result(ending) {
      const result = words.result(ending);
      return used === null ? result : { ...result, usage: used.usage, model: used.model };
    },
  };
}
