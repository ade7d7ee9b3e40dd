import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ownRoot } from "../../adapters/process/safe-path.ts";
import { PLAIN, type Style, closest } from "../../core/text.ts";
import { Argument, type Command } from "commander";
import {
  COMMANDS,
  type CommandGroup,
  createProgram,
  GROUPS,
  type Act,
  type CliContext,
} from "../commands.ts";
import { columns } from "../print/style.ts";
import { RalphError } from "../../core/errors.ts";

const OWN_ROOT = ownRoot(import.meta.dirname);

export function define(command: Command, act: Act): void {
  command
    .addArgument(
      // Choices are for the completion of shells; what is unknown is told in our own words.
      new Argument("[topic]", "a topic, a command or a group of commands; without it, all of them")
        .choices(NAMES)
        .argParser((word: string) => word),
    )
    .action(act(help));
}

async function help(context: CliContext, wanted: string | undefined): Promise<number> {
  const { stdout, style } = context;
  if (wanted === undefined) {
    const topics = columns(Object.entries(TOPICS)).map((line) => `  ${line}`);
    context.print([await commandHelp(null, context), "Topics, each with ralph help TOPIC:", ...topics]);
    return 0;
  }
  const parts = [
    ...(Object.hasOwn(TOPICS, wanted) ? [`${topicLines(wanted, style).join("\n")}\n`] : []),
    ...(isGroup(wanted) ? [groupText(wanted)] : []),
    ...(Object.hasOwn(COMMANDS, wanted) ? [await commandHelp(wanted, context)] : []),
  ];
  if (parts.length === 0) {
    const meant = closest(wanted, NAMES);
    throw new RalphError("usage", `there is neither a topic nor a command "${wanted}"`, {
      hint: meant === null ? "all of them: ralph help" : `ralph help ${meant}`,
    });
  }
  stdout.write(parts.join("\n"));
  return 0;
}

function isGroup(name: string): name is keyof typeof GROUPS {
  return Object.hasOwn(GROUPS, name);
}

/** All commands of a group, those of daily use first. */
function groupText(name: keyof typeof GROUPS): string {
  const { usual, others, rare }: CommandGroup = GROUPS[name];
  const rows = [...usual, ...others, ...rare].map((one) => [one, COMMANDS[one]]);
  return `Commands to ${name}, each with ralph help COMMAND:\n${columns(rows)
    .map((line) => `  ${line}`)
    .join("\n")}\n`;
}

/** The same text as `ralph COMMAND --help`; null: that of `ralph --help`. */
async function commandHelp(name: string | null, { version }: CliContext): Promise<string> {
  const program = await createProgram(version, (one) => one === name);
  const command = name === null ? program : program.commands.find((one) => one.name() === name);
  return command?.helpInformation() ?? "";
}

/** A topic for the terminal, and where the pages lie that it names. */
function topicLines(name: string, style: Style): readonly string[] {
  let isCode = false;
  const lines = readFileSync(join(OWN_ROOT, "docs", "help", `${name}.md`), "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      if (line.startsWith("```")) {
        isCode = !isCode;
        return [];
      }
      if (isCode) return line === "" ? line : `    ${line}`;
      const text = withLinks(line);
      if (text.startsWith("#")) return style.bold(text.replace(/^#+ /, ""));
      if (text.startsWith("|") || style === PLAIN) return text.replace(/^(?=\d+\. )/, "  ");
      // Code is set off by weight where the terminal has it.
      return text
        .replace(/^(?=\d+\. )/, "  ")
        .replaceAll(/`([^`]+)`/g, (_, code: string) => style.bold(code));
    });
  const shown = withTables(lines, style);
  const namesPages = shown.some((line) => line.startsWith("More: "));
  return namesPages ? [...shown, style.dim(`These pages are in ${OWN_ROOT}`)] : shown;
}

/** Aligns the cells of tables, without their marks and the line below the head. */
function withTables(lines: readonly string[], style: Style): readonly string[] {
  const at = lines.findIndex((line) => line.startsWith("|"));
  if (at === -1) return lines;
  const after = lines.findIndex((line, index) => index > at && !line.startsWith("|"));
  const end = after === -1 ? lines.length : after;
  const [head = "", , ...rows] = lines.slice(at, end);
  const cells = [head, ...rows].map((row) => cellsOf(row.replaceAll("`", "")));
  const table = columns(cells).map((line, row) => `  ${row === 0 ? style.dim(line) : line}`);
  return [...lines.slice(0, at), ...table, ...withTables(lines.slice(end), style)];
}

/** The cells of a row; a bar after a backslash belongs to its cell, also in code. */
export function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
}

/** A page of the documentation is named from the root of the repository. */
export function withLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, words: string, to: string) => {
    const path = to.startsWith("../../") ? to.slice("../../".length) : to.replace(/^\.\.\//, "docs/");
    return `${words} (${path})`;
  });
}

/** What `ralph help` explains besides commands, in the order of its list; each is a file in `docs/help`. */
export const TOPICS = {
  "getting-started": "your first accepted task",
  tasks: "where tasks come from and how they are marked",
  gates: "commands that must pass before a task is done",
  verdicts: "when a task is done",
  stopping: "why a run stops and how to stop it",
  "exit-codes": "what the exit codes mean",
  configuration: "settings and where to put them",
  files: "files and folders",
  environment: "environment variables",
  sandbox: "run agents in a sandbox",
  lanes: "run several tasks in parallel",
  workers: "share one queue between machines",
  people: "answer questions and unblock tasks",
  troubleshooting: "solutions to common problems",
} as const satisfies Record<string, string>;

const NAMES = [...new Set([...Object.keys(TOPICS), ...Object.keys(GROUPS), ...Object.keys(COMMANDS)])];
