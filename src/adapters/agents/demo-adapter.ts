import { withUsage, readDemoUsage, type DemoUsage } from "../../core/demo/demo-usage.ts";
import type { AgentAdapter, AgentReader, Launch, ReaderRequest } from "./agent-adapter.ts";
import { textAdapter } from "./text-adapter.ts";

/** The built-in demo agent: plain text, it tells what it used, and it takes messages, one JSON text a line. */
export const demoAdapter: AgentAdapter = {
  can: { ...textAdapter.can, takesMessages: true, tells: "cost" },
  command(launch, promptFile) {
    const { command, input } = textAdapter.command(launch, promptFile);
    return launch.mayGetMessages ? { command: [...command, "--messages"], input: null } : { command, input };
  },
  createReader: createDemoReader,
};

function createDemoReader(request: ReaderRequest, launch: Launch): AgentReader {
  // Each line may be one about usage.
  const { stdoutPassage: _, ...words } = textAdapter.createReader(request, launch);
  const message = (text: string): string => `${JSON.stringify(text)}\n`;
  let used: DemoUsage | null = null;
  return {
    ...words,
    ...(launch.mayGetMessages && {
      converse(write) {
        void write(message(launch.prompt));
        return (text) => write(message(text));
      },
    }),
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
