import type { Command } from "commander";
import { openProject } from "../../compose.ts";
import { formatDuration } from "../../core/duration.ts";
import type { State } from "../../core/loop/state.ts";
import { asArgument, blockedIds } from "../../core/projections/blocked.ts";
import { openQuestions } from "../../core/projections/open-questions.ts";
import { projectStatus, type InboxItem } from "../../core/projections/status.ts";
import type { Instant } from "../../core/time.ts";
import type { Act, CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";
import { readState } from "../project-state.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--json", "print JSON")
    .action((flags: { json?: boolean }) => act((context) => inbox(flags.json === true, context)));
}

async function inbox(asJson: boolean, context: CliContext): Promise<number> {
  const state = await readState(await openProject(context));
  const items = waiting(state);
  const { stdout, env } = context;
  if (asJson) stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  else if (items.length === 0) stdout.write("Nothing waits for you. Where the tasks stand: ralph status\n");
  else
    for (const line of items.flatMap((item) => itemLines(item, state, Date.now(), styleFor(stdout, env))))
      stdout.write(`${line}\n`);
  return 0;
}

/** What `status.json` lists, without tasks that their owner has marked as done meanwhile. */
function waiting(state: State): readonly InboxItem[] {
  const tasks = new Set([...blockedIds(state), ...openQuestions(state).map(({ task }) => task)]);
  return projectStatus(state, true).inbox.filter(({ task }) => tasks.has(task));
}

function itemLines(item: InboxItem, state: State, now: Instant, style: Style): readonly string[] {
  const { task, kind, text, options } = item;
  const id = asArgument(task);
  if (kind === "blocked")
    return [
      `${style.bad("■")} ${task} is blocked: ${text}`,
      `    → settle it, then: ralph unblock ${id}   (what would help: ralph blocked --suggest)`,
    ];
  const askedAt = state.tasks[task]?.question?.askedAt ?? now;
  return [
    `${style.ask("?")} ${task} asks, for ${formatDuration(Math.max(0, now - askedAt))} now: ${text}`,
    ...(options.length === 0 ? [] : [`    options: ${options.join(", ")}`]),
    `    → ralph decide ${id} "${options[0] ?? "…"}"`,
  ];
}
