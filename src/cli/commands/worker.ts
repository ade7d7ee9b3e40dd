import type { Command } from "commander";
import { checkoutOfBare, openProject, readConfig } from "../../compose.ts";
import { LANES_MAX } from "../../config/count-schema.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { requirePerson } from "../require-person.ts";
import { requireQueue } from "../require-queue.ts";
import { collect, withSandboxOptions } from "../run-options.ts";
import { driveWorker } from "../worker/drive-worker.ts";

interface Flags {
  readonly lanes: string;
  readonly labels?: readonly string[];
  readonly drain?: boolean;
  /** False: `--no-merge`. */
  readonly merge: boolean;
  /** False: `--no-keep-awake`. */
  readonly keepAwake: boolean;
  readonly sandbox?: string | boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export function define(command: Command, act: Act): void {
  withSandboxOptions(command)
    .option("--lanes <n>", "so many tasks at a time", "1")
    .option(
      "--labels <list>",
      "what this machine has besides, for tasks that need it: gpu,xcode (repeatable)",
      collect,
    )
    .option("--drain", "leave when there is nothing left to do, instead of waiting for more")
    .option("--no-merge", "leave it to others to bring accepted work to the base")
    .option("--no-keep-awake", "let the machine fall asleep while an agent works")
    .option("--json", "events as JSON lines on stdout")
    .option("--quiet", "only what goes wrong")
    .action((flags: Flags) => act((context) => worker(flags, context)));
}

async function worker(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject({ ...context, cwd: await checkoutOfBare(context.cwd) });
  const queue = requireQueue(project, "worker");
  requirePerson(project, context.env, "work for others");
  const config = await readConfig(project, context.env);
  return driveWorker({
    project,
    queue,
    config,
    context,
    lanes: lanesIn(flags.lanes),
    labels: (flags.labels ?? []).flatMap(labelsIn),
    drains: flags.drain === true,
    merges: flags.merge,
    keepAwake: flags.keepAwake,
    ...(flags.sandbox !== undefined && { sandbox: flags.sandbox }),
    asJson: flags.json === true,
    isQuiet: flags.quiet === true,
  });
}

function lanesIn(text: string): number {
  const lanes = /^\d+$/.test(text) ? Number(text) : 0;
  if (lanes >= 1 && lanes <= LANES_MAX) return lanes;
  throw new RalphError("usage", `--lanes is "${text}"; expected a whole number from 1 to ${LANES_MAX}`);
}

function labelsIn(list: string): readonly string[] {
  const labels = list
    .split(",")
    .map((label) => label.trim())
    .filter((label) => label !== "");
  const odd = labels.find((label) => !/^[\w.:+/-]{1,60}$/.test(label));
  if (odd === undefined) return labels;
  throw new RalphError("usage", `--labels has "${odd}"; expected words such as gpu or os:linux, with commas`);
}
