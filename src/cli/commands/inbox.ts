import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import type { State } from "../../core/loop/state.ts";
import { asArgument, whatToDo, type BlockedTask } from "../../core/projections/blocked.ts";
import { openQuestions } from "../../core/projections/open-questions.ts";
import { projectStatus, type InboxItem } from "../../core/projections/status.ts";
import { blockedNow } from "../blocked-now.ts";
import type { Act, CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";
import { readState } from "../project-state.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: { json?: boolean }) => act((context) => inbox(flags.json === true, context)));
}

async function inbox(asJson: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const blocked = await blockedNow(project, state);
  const items = waiting(state, blocked);
  const { stdout, env } = context;
  if (asJson) stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else if (items.length === 0) stdout.write("Nothing waits for you. Where the tasks stand: ralph status\n");
  else
    for (const item of items)
      for (const line of itemLines(item, state, blocked, styleFor(stdout, env))) stdout.write(`${line}\n`);
  return 0;
}

/** What `status.json` lists, without tasks that their owner has marked as done meanwhile. */
function waiting(state: State, blocked: readonly BlockedTask[]): readonly InboxItem[] {
  const tasks = new Set([...blocked.map(({ id }) => id), ...openQuestions(state).map(({ task }) => task)]);
  return projectStatus(state, true).inbox.filter(({ task }) => tasks.has(task));
}

function itemLines(
  item: InboxItem,
  state: State,
  blocked: readonly BlockedTask[],
  style: Style,
): readonly string[] {
  const { task, kind, text, options } = item;
  const help = blocked.find(({ id }) => id === task);
  if (kind === "blocked" && help !== undefined)
    return [`${style.bad("■")} ${task} is blocked: ${text}`, `    → ${whatToDo(help)}`];
  const askedFor = Date.now() - (state.tasks[task]?.question?.askedAt ?? Date.now());
  return [
    `${style.ask("?")} ${task} asks, for ${formatDuration(Math.max(0, askedFor))} now: ${text}`,
    ...(options.length === 0 ? [] : [`    options: ${options.join(", ")}`]),
    `    → ralph decide ${asArgument(task)} "${options[0] ?? "…"}"`,
  ];
}
