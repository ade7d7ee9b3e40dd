import { fingerprint } from "../../core/text.ts";
import type { AgentReport, Usage } from "../../core/streams/agent-report.ts";
import type { AgentSettings } from "../../core/settings.ts";
import type { Instant } from "../../core/time.ts";

/** A value of an attribute; null is left out. A number that may have a fraction is one also when it has none. */
type Attribute = Present | null | undefined;
type Present = string | number | boolean | { readonly double: number };
export type Attributes = Readonly<Record<string, Attribute>>;

/** Attributes as the OpenTelemetry protocol has them in JSON: 64-bit numbers are texts there. */
export function keyValues(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: Present): object {
  if (typeof value === "object") return { doubleValue: value.double };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Nanoseconds, as a text. */
export function nanos(at: Instant): string {
  return `${Math.round(at)}000000`;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** `client`: what it stands for is another program's work. */
  readonly kind: "internal" | "client";
  readonly from: Instant;
  readonly to: Instant;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

const KINDS = { internal: 1, client: 3 } as const;
const ERROR = 2;

export function spanJson(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanos(span.from),
    endTimeUnixNano: nanos(Math.max(span.from, span.to)),
    attributes: keyValues(span.attributes),
    status: { code: span.isError ? ERROR : 0 },
  };
}

/** Whom an agent calls, by the names of the conventions; its own name where nobody can know. */
export type ProviderOf = (agent: string) => string;

const PROVIDERS: Readonly<Record<string, string>> = {
  claude: "anthropic",
  codex: "openai",
  gemini: "gcp.gemini",
};

export function providersOf(agents: readonly AgentSettings[]): ProviderOf {
  const known = new Map(agents.map(({ name, format }) => [name, PROVIDERS[format] ?? name]));
  return (agent) => known.get(agent) ?? agent;
}

export const OPERATION = "invoke_agent";

/** What one agent did, by the semantic conventions for generative AI; none of its words. */
export function genAiAttributes(agent: string, report: AgentReport, providerOf: ProviderOf): Attributes {
  const { usage, model, sessionId, toolCalls, failure } = report;
  return {
    "gen_ai.operation.name": OPERATION,
    "gen_ai.provider.name": providerOf(agent),
    "gen_ai.agent.name": agent,
    "gen_ai.request.model": model ?? null,
    "gen_ai.conversation.id": sessionId ?? null,
    "gen_ai.usage.input_tokens": inputTokens(usage),
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cost.amount": usage.costUsd === null ? null : { double: usage.costUsd },
    "gen_ai.usage.cost.currency": usage.costUsd === null ? null : "USD",
    "ralph.tool_calls": toolCalls,
    "ralph.ending": report.ending.is,
    "error.type": failure?.class ?? null,
  };
}

/** In the conventions those read from a cache are input as well. */
export function inputTokens({ inputTokens: fresh, cacheReadTokens: cached }: Usage): number | null {
  return fresh === null && cached === null ? null : (fresh ?? 0) + (cached ?? 0);
}

/** The trace of a run: the same for every process that goes on with it, and for every worker that shares it. */
export function traceIdOf(run: string): string {
  const hex = run.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) && /[^0]/.test(hex) ? hex : hash(["trace", run]) + hash([run, "trace"]);
}

/** The same for the same thing of a run, so that what is sent twice is known to be one. */
export function spanIdOf(run: string, ...path: readonly (string | number)[]): string {
  return hash([run, ...path]);
}

/** Eight bytes in hex, never all zero. */
function hash(value: unknown): string {
  const hex = fingerprint(value).padStart(16, "0");
  return /[^0]/.test(hex) ? hex : "0000000000000001";
}
