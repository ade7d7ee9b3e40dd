import type { StreamFormat } from "../../core/report/streams/stream-format.ts";
import type { AgentAdapter } from "./agent-adapter.ts";
import { createStreamReader } from "./stream-reader.ts";
import { textAdapter } from "./text-adapter.ts";

/** Any program that takes its prompt as text and speaks the stream of a known agent: a wrapper around one, say. */
export function streamAdapter(format: StreamFormat): AgentAdapter {
  return {
    ...textAdapter,
    createReader: (request) => createStreamReader(format, request),
    // Copilot's stream has neither tokens nor a price.
    tellsUsage: format !== "copilot",
  };
}
