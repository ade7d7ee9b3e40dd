import type { Usage } from "../report/agent-report.ts";
import type { AgentSettings } from "../settings.ts";

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

/** The demo agent does what its script says; without one, and without another command, it makes believe. */
export function onlyPretends({ format, env }: Pick<AgentSettings, "format" | "env">): boolean {
  return format === "demo" && env["RALPH_DEMO_SCRIPT"] === undefined;
}

const STORIES_MAX = 8;

/** The plan that the demo agent makes without a script: a story for each item of a list in the requirements. */
export function demoPlan(prompt: string): string {
  const requirements = prompt.slice(prompt.lastIndexOf("\n## Requirements ("));
  const items = [...requirements.matchAll(/^[-*] (.+)$/gm)].map(([, text = ""]) => text.trim());
  const wanted = items.length === 0 ? ["Do what the requirements say"] : items.slice(0, STORIES_MAX);
  const userStories = wanted.map((text, at) => ({
    id: `US-${String(at + 1).padStart(3, "0")}`,
    title: text,
    description: "",
    acceptanceCriteria: [text],
    priority: at + 1,
    dependsOn: [],
    passes: false,
  }));
  const plan = { project: "demo", branchName: null, description: "", verifyCommands: [], userStories };
  return `${JSON.stringify(plan, null, 2)}\n`;
}
