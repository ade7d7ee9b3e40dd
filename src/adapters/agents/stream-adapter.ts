import type { ProgramFormat } from "../../core/known-programs.ts";
import type { AgentAdapter, Capabilities } from "./agent-adapter.ts";
import { programBelongings } from "./programs/program-belongings.ts";
import { createStreamReader } from "./stream-reader.ts";
import { textAdapter } from "./text-adapter.ts";

/** What its stream says of what it used; some are told the rest in another way. */
export const TELLS: Readonly<Record<ProgramFormat, Capabilities["tells"]>> = {
  claude: "cost",
  codex: "tokens",
  gemini: "tokens",
  opencode: "cost",
  copilot: "nothing",
};

/** Any program that takes its prompt as text and speaks the stream of a known agent: a wrapper around one, say. */
export function streamAdapter(format: ProgramFormat): AgentAdapter {
  return {
    ...textAdapter,
    createReader: (request) => createStreamReader(format, request),
    belongings: (_, env) => programBelongings(format, env),
    can: { ...textAdapter.can, tells: TELLS[format] },
  };
}
