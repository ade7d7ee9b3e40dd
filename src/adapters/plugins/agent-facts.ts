import { failureOf, type FactRecorder } from "../../core/report/streams/stream-facts.ts";

/** What a reader of an agent's output tells us. The last message is the agent's report, where claims are looked for. */
export interface AgentFacts {
  /** A whole message of the agent. */
  says(text: string): void;
  /** The next piece of a message. */
  saysMore(piece: string): void;
  /** The same id twice is one call. Its files count when it ends well. */
  startsTool(id: string, name: string, files?: readonly string[]): void;
  endsTool(id: string, isGood: boolean): void;
  /** Files that it wrote, outside of any tool. */
  writes(paths: readonly string[]): void;
  /** By which its session is known. */
  session(id: string): void;
  /** Which model it uses. */
  model(name: string): void;
  /** What it used so far, all in all; what is left out is not known. */
  uses(usage: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
    readonly costUsd?: number;
  }): void;
  /** The final result. An agent that ends without one has failed. */
  ends(failure?: {
    readonly message: string;
    /** Of HTTP: 429 is a limit, 401 a login that is gone, 5xx passes. */
    readonly status?: number;
  }): void;
}

/** What JavaScript tells may be anything: a wrong type is the plugin's mistake, said when it is made. */
export function agentFacts(recorder: FactRecorder): AgentFacts {
  return {
    says: (message) => recorder.says(text(message)),
    saysMore: (piece) => recorder.saysMore(text(piece)),
    startsTool: (id, name, files) =>
      recorder.startsTool({ id: text(id), name: text(name), ...(files && { files: files.map(text) }) }),
    endsTool: (id, isGood) => recorder.endsTool(text(id), isGood),
    writes: (paths) => recorder.writes(paths.map(text)),
    session: (id) => recorder.session(text(id)),
    model: (name) => recorder.model(text(name)),
    uses: ({ inputTokens, outputTokens, cacheReadTokens, costUsd }) =>
      recorder.uses({
        inputTokens: count(inputTokens),
        outputTokens: count(outputTokens),
        cacheReadTokens: count(cacheReadTokens),
        costUsd: count(costUsd),
      }),
    ends: (failure) =>
      recorder.ends(
        failure == null ? null : failureOf(text(failure.message), { status: count(failure.status) }),
      ),
  };
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new TypeError(`a text was expected, and ${JSON.stringify(value) ?? typeof value} was given`);
}

function count(value: unknown): number | null {
  if (value == null) return null;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new TypeError(`a number was expected, and ${JSON.stringify(value) ?? typeof value} was given`);
}
