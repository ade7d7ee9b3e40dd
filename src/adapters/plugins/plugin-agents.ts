import { PLAIN } from "../../core/agent-named.ts";
import type { FactRecorder } from "../../core/report/streams/stream-facts.ts";
import type { AgentSettings } from "../../core/settings.ts";
import { agentFacts } from "./agent-facts.ts";
import { inWords, messageOf, type PartName } from "./ask-plugin.ts";
import type { PluginAgent } from "./plugin.ts";

export function agentSettings(
  part: PartName,
  agent: PluginAgent,
  warn: (text: string) => void,
): AgentSettings {
  const { command, format = "text", env = {}, envDeny = [], createReader, tells = "nothing" } = agent;
  return {
    ...PLAIN,
    name: part.name,
    format,
    command,
    env,
    envDeny,
    ...(createReader && {
      lines: { tells, createReader: () => carefulReader(part, () => createReader(), warn) },
    }),
  };
}

/** What it cannot read is a line that nobody understands; that is said once for each process. */
function carefulReader(
  part: PartName,
  create: () => ReturnType<NonNullable<PluginAgent["createReader"]>>,
  warn: (text: string) => void,
): (line: string, recorder: FactRecorder) => boolean {
  let hasWarned = false;
  let read: ReturnType<typeof create> | null = null;
  return (line, recorder) => {
    try {
      read ??= create();
      read(line, agentFacts(recorder));
      return true;
    } catch (error) {
      if (!hasWarned) warn(`${inWords(part)} cannot read a line of its output: ${messageOf(error)}`);
      hasWarned = true;
      return false;
    }
  };
}
