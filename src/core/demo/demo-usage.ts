import type { Usage } from "../report/agent-report.ts";

/** What the demo agent says it used, in a line of its own. */
export interface DemoUsage {
  readonly usage: Usage;
  readonly model: string | null;
}

const PREFIX = "RALPH_DEMO_USAGE ";

/** The line that says it; `step` is what stands in the script. */
export function demoUsageLine(step: object): string {
  return `${PREFIX}${JSON.stringify(step)}`;
}

/** Null when the line says something else. */
export function readDemoUsage(line: string): DemoUsage | null {
  if (!line.startsWith(PREFIX)) return null;
  let said: Readonly<Record<string, unknown>>;
  try {
    said = Object(JSON.parse(line.slice(PREFIX.length))) as Readonly<Record<string, unknown>>;
  } catch {
    return null; // words that happen to begin like it
  }
  const number = (name: string): number | null => {
    const value = said[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
  };
  const { model } = said;
  return {
    usage: {
      inputTokens: number("input_tokens"),
      outputTokens: number("output_tokens"),
      cacheReadTokens: number("cache_read_tokens"),
      costUsd: number("cost_usd"),
    },
    model: typeof model === "string" ? model : null,
  };
}

export function withUsage(before: DemoUsage | null, more: DemoUsage): DemoUsage {
  if (before === null) return more;
  const sum = (a: number | null, b: number | null): number | null =>
    a === null && b === null ? null : (a ?? 0) + (b ?? 0);
  return {
    usage: {
      inputTokens: sum(before.usage.inputTokens, more.usage.inputTokens),
      outputTokens: sum(before.usage.outputTokens, more.usage.outputTokens),
      cacheReadTokens: sum(before.usage.cacheReadTokens, more.usage.cacheReadTokens),
      costUsd: sum(before.usage.costUsd, more.usage.costUsd),
    },
    model: more.model ?? before.model,
  };
}
