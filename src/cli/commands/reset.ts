import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { openProject, type Project } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { refuseWhileDriven, refuseWhileHeld } from "../refuse-while-driven.ts";
import { requirePerson } from "../require-person.ts";

interface Flags {
  readonly circuit?: boolean;
  readonly calls?: boolean;
  readonly task?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--circuit", "let an open breaker try again")
    .option("--calls", "count the calls of this hour from now on")
    .option("--task <id>", "forget this task's counters, questions and feedback")
    .option("--all", "forget everything, the history too")
    .option("--yes", "do not ask")
    .action((flags: Flags) => act((context) => reset(flags, context)));
}

async function reset(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "reset anything");
  await refuseAtWork(flags, project);
  if (flags.all === true) return resetAll(project, flags.yes === true, context);
  if (flags.circuit !== true && flags.calls !== true && flags.task === undefined) {
    throw new RalphError("usage", "say what to reset", {
      hint: "ralph reset --circuit, --calls, --task ID, or --all",
    });
  }
  if (flags.task !== undefined) await resetTask(project, flags.task, context);
  if (flags.circuit === true) await resetCircuit(project, context);
  if (flags.calls === true) await resetCalls(project, context);
  return 0;
}

/** Workers hear of everything, and are asked to leave only for what would be gone under their hands. */
async function refuseAtWork(flags: Flags, project: Project): Promise<void> {
  const isOnlyCalls = flags.calls === true && !flags.all && !flags.circuit && flags.task === undefined;
  if (project.queue === null ? !isOnlyCalls : flags.all === true) return refuseWhileDriven(project);
  if (flags.task !== undefined) return refuseWhileHeld(project, flags.task);
}

/** Half open: one iteration without progress opens it again. */
async function resetCircuit(project: Project, { stderr }: CliContext): Promise<void> {
  const { position, reason } = (await readState(project)).breaker;
  if (position !== "OPEN") {
    stderr.write(`ralph: the breaker is ${position}; there is nothing to reset\n`);
    return;
  }
  const move = { type: "breaker.moved", run: null, from: "OPEN", to: "HALF_OPEN", head: null } as const;
  await withLog(project, (log) => log.append([{ ...move, reason: "somebody reset it" }]));
  stderr.write(
    `ralph: the breaker (${reason}) is HALF_OPEN now: one iteration shows whether it helps. ${project.queue === null ? "ralph run" : "Workers go on"}\n`,
  );
}

async function resetCalls(project: Project, { stderr }: CliContext): Promise<void> {
  await withLog(project, (log) => log.append([{ type: "calls.reset" }]));
  stderr.write("ralph: the calls of this hour are counted from now on\n");
}

async function resetTask(project: Project, task: string, context: CliContext): Promise<void> {
  const state = await readState(project);
  if (state.tasks[task] === undefined) {
    throw new RalphError("usage", `there is no task "${task}"`, {
      hint: `known: ${Object.keys(state.tasks).join(", ") || "none yet"}`,
    });
  }
  await withLog(project, (log) => log.append([{ type: "task.reset", task }]));
  context.stderr.write(`ralph: ${task} starts from the beginning\n`);
}

async function resetAll(project: Project, sure: boolean, context: CliContext): Promise<number> {
  if (!sure && !(await confirmed(context))) return 1;
  await withLog(project, (log) => log.forget());
  for (const view of [
    "logs",
    "interventions",
    "status.json",
    "active.json",
    "progress.json",
    "metrics.json",
  ]) {
    rmSync(join(project.ralphDir, view), { recursive: true, force: true });
  }
  context.stderr.write("ralph: everything is forgotten; the code and the task source are as they were\n");
  return 0;
}

async function confirmed(context: CliContext): Promise<boolean> {
  if (!context.stderr.isTTY || !process.stdin.isTTY) {
    throw new RalphError(
      "usage",
      "reset --all forgets the whole history and asks first, but there is no terminal",
      {
        hint: "ralph reset --all --yes",
      },
    );
  }
  const question = createInterface({ input: process.stdin, output: context.stderr });
  const answer = await question.question(
    "Forget every run, iteration and transcript of this repository? [y/N] ",
  );
  question.close();
  return /^y(es)?$/i.test(answer.trim());
}
