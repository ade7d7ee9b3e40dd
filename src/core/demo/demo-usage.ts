import type { Usage } from "../streams/agent-report.ts";
import { fieldsOf, numberOf, parsedJson, textOf } from "../streams/json-fields.ts";
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
  const json = line.startsWith(PREFIX) ? parsedJson(line.slice(PREFIX.length)) : undefined;
  if (json === undefined) return null;
  const said = fieldsOf(json);
  const count = (name: string): number | null => {
    const value = numberOf(said[name]);
    return value !== null && value >= 0 ? value : null;
  };
  return {
    usage: {
      inputTokens: count("input_tokens"),
      outputTokens: count("output_tokens"),
      cacheReadTokens: count("cache_read_tokens"),
      costUsd: count("cost_usd"),
    },
    model: textOf(said["model"]),
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
