import type { Command } from "commander";
import { act as actOn, type ProjectAct } from "../../app/operator.ts";
import { openProject } from "../../app/project.ts";
import { meantTask, readState } from "../../app/project-log.ts";
import { RalphError } from "../../core/errors.ts";
import type { Act, CliContext } from "../commands.ts";
import { whatGoesOn } from "./blocked.ts";

interface Flags {
  readonly json?: boolean;
}

const TASK = "the task; its id may be shortened";

export function defineApprove(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .option("--json", "print JSON")
    .action((task: string, flags: Flags) =>
      act((context) => actOnTask(task, (id) => ({ do: "approve", task: id }), flags, context)),
    );
}

export function defineSendBack(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .argument("<words>", "what is to be changed, in quotes")
    .option("--json", "print JSON")
    .action((task: string, words: string, flags: Flags) =>
      act((context) => actOnTask(task, (id) => ({ do: "send-back", task: id, words }), flags, context)),
    );
}

export function defineSkip(command: Command, act: Act): void {
  command
    .argument("<task>", TASK)
    .option("--undo", "let runs work on it again")
    .option("--json", "print JSON")
    .action((task: string, { undo = false, ...flags }: Flags & { undo?: boolean }) =>
      act((context) => actOnTask(task, (id) => ({ do: "skip", task: id, undo }), flags, context)),
    );
}

export function definePause(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => perform({ do: "pause" }, flags, context)));
}

export function defineResume(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => perform({ do: "resume" }, flags, context)));
}

async function actOnTask(
  asked: string,
  wanted: (id: string) => ProjectAct,
  flags: Flags,
  context: CliContext,
): Promise<number> {
  const project = await openProject(context);
  const id = await meantTask(asked, await readState(project), project);
  const code = await perform(wanted(id), flags, context);
  const { do: deed } = wanted(id);
  if (deed !== "skip" && flags.json !== true)
    context.stderr.write(`  → ${await whatGoesOn(project, await readState(project), id)}\n`);
  return code;
}

/** What was done, or is so already; anything else is an error. */
async function perform(wanted: ProjectAct, { json }: Flags, context: CliContext): Promise<number> {
  const acted = await actOn(await openProject(context), wanted);
  if (acted.is === "refused" && acted.isMoot !== true)
    throw new RalphError("usage", acted.why, { ...(acted.hint !== undefined && { hint: acted.hint }) });
  const said = acted.is === "done" ? acted.said : acted.why;
  if (json === true)
    context.stdout.write(`${JSON.stringify({ done: acted.is === "done", said }, null, 2)}\n`);
  else context.say(said);
  return 0;
}
