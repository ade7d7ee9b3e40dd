import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProgram } from "../../src/adapters/process/process-table.ts";
import { createProject, startRalph, type Finished, type Project } from "./project.ts";

const AGENT = `#!/bin/sh
while read -r line; do :; done
echo "made by the agent" > "$RALPH_TASK_ID.txt"
echo "<promise>COMPLETE</promise>"
`;

let project: Project;
let programs: string;

beforeEach(() => {
  project = createProject({
    tasks: ["one", "two"],
    config:
      'agent = "scribe"\n[agents.scribe]\ncommand = ["scribe"]\n[[gates]]\nname = "there"\ncommand = "test -d ."\n',
  });
  programs = join(project.root, "..", "only-these");
  mkdirSync(programs);
  for (const name of ["git", "sh"]) link(name, findProgram(name, "/", process.env));
  link("node", process.execPath);
  writeFileSync(join(programs, "scribe"), AGENT);
  chmodSync(join(programs, "scribe"), 0o755);
});
afterEach(() => project.dispose());

function link(name: string, target: string | null): void {
  symlinkSync(target ?? "", join(programs, name));
}

function ralph(...args: readonly string[]): Promise<Finished> {
  return startRalph(project.root, { ...project.env, PATH: programs }, args).finished;
}

test("node, git, sh and an agent are all that it needs", async () => {
  expect(readdirSync(programs).toSorted()).toEqual(["git", "node", "scribe", "sh"]);
  expect(await ralph("run", "--parallel", "2")).toMatchObject({ code: 0, stderr: "" });
  expect([project.read("one.txt"), project.read("two.txt")]).toEqual(Array(2).fill("made by the agent\n"));
  for (const command of [["status"], ["verify", "two"], ["report", "--md"]])
    expect(await ralph(...command)).toMatchObject({ code: 0, stderr: "" });
  expect(project.leftovers()).toEqual([]);
});
