import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import type { State } from "../../core/loop/state.ts";
import { asArgument, whatToDo, type BlockedTask } from "../../core/projections/blocked.ts";
import { inboxOf, type InboxItem } from "../../core/projections/inbox.ts";
import { choiceInWords } from "../../core/projections/open-questions.ts";
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
  const items = inboxOf(state);
  const { stdout, env } = context;
  if (asJson) stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else if (items.length === 0) stdout.write("Nothing waits for you. Where the tasks stand: ralph status\n");
  else
    for (const item of items)
      for (const line of itemLines(item, state, blocked, styleFor(stdout, env))) stdout.write(`${line}\n`);
  return 0;
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
  const now = Date.now();
  const question = state.tasks[task]?.question ?? null;
  const askedFor = formatDuration(Math.max(0, now - (question?.askedAt ?? now)));
  const choice = question === null ? "" : choiceInWords(question, now);
  return [
    `${style.ask("?")} ${task} asks, for ${askedFor} now: ${text}`,
    ...(choice === "" ? [] : [`    ${choice}`]),
    `    → ralph decide ${asArgument(task)} "${options[0] ?? "…"}"`,
  ];
}
