import type { Command } from "commander";
import { openProject, type Project } from "../../compose.ts";
import { lessonsOf, type Lesson } from "../../core/interventions/lessons.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { columns } from "../print/columns.ts";
import { readState, withLog } from "../project-state.ts";
import { unknownName } from "../unknown-name.ts";

interface Flags {
  readonly remove?: string;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .argument("[action]", 'nothing lists the lessons; "remove" takes one away')
    .argument("[rule]", "of the lesson to take away")
    .option("--remove <rule>", "the same as: remove RULE")
    .option("--json", "print JSON")
    .action((action: string | undefined, rule: string | undefined, flags: Flags) =>
      act((context) => lessons(ruleToRemove(action, rule, flags), flags.json === true, context)),
    );
}

async function lessons(unwanted: string | null, asJson: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const known = lessonsOf((await readState(project)).findings);
  const left = unwanted === null ? known : await remove(project, unwanted, known, context);
  if (asJson) context.stdout.write(`${JSON.stringify(left, null, 2)}\n`);
  else if (unwanted === null) list(left, context);
  return 0;
}

function list(known: readonly Lesson[], { stdout }: CliContext): void {
  if (known.length === 0)
    stdout.write(
      "No lesson yet: what goes wrong in three tasks becomes one. What went wrong so far: ralph interventions\n",
    );
  const rows = known.map(({ rule, tasks, sentence }) => [rule, tasks.join(", "), sentence]);
  for (const line of columns(rows)) stdout.write(`${line}\n`);
}

async function remove(
  project: Project,
  rule: string,
  known: readonly Lesson[],
  { stderr }: CliContext,
): Promise<readonly Lesson[]> {
  const rules = known.map((lesson) => lesson.rule);
  if (!rules.includes(rule)) throw unknownName("lesson", rule, rules);
  await withLog(project, (log) => log.append([{ type: "lesson.removed", rule }]));
  stderr.write(`ralph: ${rule} is no lesson any more; it comes back if it goes wrong in three tasks again\n`);
  return known.filter((lesson) => lesson.rule !== rule);
}

function ruleToRemove(action: string | undefined, rule: string | undefined, flags: Flags): string | null {
  if (action === undefined) return flags.remove ?? null;
  const hint = "ralph lessons lists them, ralph lessons remove RULE takes one away";
  if (action !== "remove") throw new RalphError("usage", `ralph lessons cannot "${action}"`, { hint });
  if (rule === undefined) throw new RalphError("usage", "say which lesson to remove", { hint });
  return rule;
}
