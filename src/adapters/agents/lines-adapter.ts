import type { AgentLines } from "../../core/settings.ts";
import type { AgentAdapter } from "./agent-adapter.ts";
import { createEventReader, type EventLines } from "./stream-reader.ts";
import { textAdapter } from "./text-adapter.ts";

/** A program of the operator's own, whose output somebody else can read. */
export function linesAdapter({ createReader, tells }: AgentLines): AgentAdapter {
  return {
    ...textAdapter,
    can: { ...textAdapter.can, tells },
    createReader: (request) =>
      createEventReader((recorder) => {
        const read = createReader();
        let events = 0;
        let unknown = 0;
        const lines: EventLines = {
          readLine(line) {
            if (line.trim() === "") return;
            events += 1;
            if (!read(line, recorder)) unknown += 1;
          },
          end: () => {},
          damagedLines: () => 0,
          events: () => events,
          unknownEvents: () => unknown,
        };
        return lines;
      }, request),
  };
}
