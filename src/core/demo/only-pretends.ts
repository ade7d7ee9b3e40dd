import type { AgentSettings } from "../settings.ts";

/** The demo agent does what its script says; without one, and without another command, it makes believe. */
export function onlyPretends({ format, env }: Pick<AgentSettings, "format" | "env">): boolean {
  return format === "demo" && env["RALPH_DEMO_SCRIPT"] === undefined;
}
