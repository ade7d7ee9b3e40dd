import type { Command } from "commander";
import { act as actOn, type ProjectAct } from "../../app/operator.ts";
import { openProject } from "../../app/project.ts";
import { meantTask, readState } from "../../app/project-log.ts";
import { tellActed, type Act, type CliContext } from "../commands.ts";
import { whatGoesOn } from "./blocked.ts";

const TASK = "the task; its id may be shortened";

export function defineApprove(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .option("--json", "print JSON")
    .action(act((context, task: string) => actOnTask(context, task, (id) => ({ do: "approve", task: id }))));
}

export function defineSendBack(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .argument("<words>", "what is to be changed, in quotes")
    .option("--json", "print JSON")
    .action(
      act((context, task: string, words: string) =>
        actOnTask(context, task, (id) => ({ do: "send-back", task: id, words })),
      ),
    );
}

export function defineSkip(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .option("--undo", "let runs work on it again")
    .option("--json", "print JSON")
    .action(
      act((context, task: string, { undo }: { undo?: boolean }) =>
        actOnTask(context, task, (id) => ({ do: "skip", task: id, undo })),
      ),
    );
}

export function definePause(command: Command, act: Act): void {
  command.option("--json", "print JSON").action(act((context) => perform(context, { do: "pause" })));
}

export function defineResume(command: Command, act: Act): void {
  command.option("--json", "print JSON").action(act((context) => perform(context, { do: "resume" })));
}

async function actOnTask(
  context: CliContext,
  asked: string,
  wanted: (id: string) => ProjectAct,
): Promise<number> {
  const project = await openProject(context);
  const id = await meantTask(asked, await readState(project), project);
  const deed = wanted(id);
  const code = await perform(context, deed);
  if (deed.do !== "skip" && !context.json)
    context.stderr.write(`  → ${await whatGoesOn(project, await readState(project), id)}\n`);
  return code;
}

async function perform(context: CliContext, wanted: ProjectAct): Promise<number> {
  return tellActed(context, await actOn(await openProject(context), wanted));
}
