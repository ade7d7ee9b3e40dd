import type { AgentReport, Usage } from "../report/agent-report.ts";
import type { AgentSettings } from "../settings.ts";
import type { Attributes } from "./otlp.ts";

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
