import { join } from "node:path";
import { makeRepository, type BenchRepository } from "./repositories.ts";

export const ROOT = join(import.meta.dirname, "..");
export const RALPH = join(ROOT, "bin", "ralph");

/** A repository with a checklist and an agent that does next to nothing, so that what is left is ours. */
export function sampleProject(tasks: number, agentCommand: readonly string[]): BenchRepository {
  const repository = makeRepository(1, 1);
  repository.reset(sampleFiles(tasks, agentCommand, tasks + 1));
  return repository;
}

/** A checklist and a configuration in which nothing but the number of iterations ends the run early. */
export function sampleFiles(
  tasks: number,
  agentCommand: readonly string[],
  maxIterations: number,
): Readonly<Record<string, string>> {
  const boxes = Array.from({ length: tasks }, (_, index) => `- [ ] **task-${index + 1}**: make it\n`);
  const config = [
    'agent = "stub"',
    "[run]",
    `max_iterations = ${maxIterations}`,
    "max_stuck = 0",
    "max_attempts = 0",
    "[breaker]",
    "no_progress = 0",
    "same_error = 0",
    "output_decline = 0",
    "[interventions]",
    "threshold_no_files = 0",
    "[agents.stub]",
    `command = ${JSON.stringify(agentCommand)}`,
  ];
  return { "TODO.md": boxes.join(""), ".ralph/ralph.toml": `${config.join("\n")}\n` };
}
