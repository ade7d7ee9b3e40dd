import { closest } from "../../core/text.ts";
import { Argument, type Command } from "commander";
import { COMMANDS, type Act, type CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";
import { createProgram } from "../program.ts";
import { OWN_ROOT, readTopic } from "../../compose-help.ts";
import { RalphError } from "../../core/ralph-error.ts";

export function define(command: Command, act: Act): void {
  const names = [...new Set([...Object.keys(TOPICS), ...Object.keys(COMMANDS)])];
  command
    .addArgument(
      // Choices are for the completion of shells; what is unknown is told in our own words.
      new Argument("[topic]", "a topic or a command; without it, all of them")
        .choices(names)
        .argParser((word: string) => word),
    )
    .action((wanted: string | undefined) => act((context) => help(wanted, context)));
}

async function help(wanted: string | undefined, context: CliContext): Promise<number> {
  if (wanted === undefined) {
    context.stdout.write(`${await commandHelp(null, context)}\n${topicList()}`);
    return 0;
  }
  const parts = [
    ...(Object.hasOwn(TOPICS, wanted) ? [topicText(wanted, context)] : []),
    ...(Object.hasOwn(COMMANDS, wanted) ? [await commandHelp(wanted, context)] : []),
  ];
  if (parts.length === 0) throw unknown(wanted);
  context.stdout.write(parts.join("\n"));
  return 0;
}

function topicText(name: string, { stdout, env }: CliContext): string {
  const lines = topicLines(readTopic(name), styleFor(stdout, env), OWN_ROOT);
  return lines.map((line) => `${line}\n`).join("");
}

/** The same text as `ralph COMMAND --help`; null: that of `ralph --help`. */
async function commandHelp(name: string | null, { version }: CliContext): Promise<string> {
  const program = await createProgram(version, (one) => one === name);
  const command = name === null ? program : program.commands.find((one) => one.name() === name);
  return command?.helpInformation() ?? "";
}

function topicList(): string {
  const width = Math.max(...Object.keys(TOPICS).map((name) => name.length));
  const lines = Object.entries(TOPICS).map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Topics, each with ralph help TOPIC:\n${lines.join("")}`;
}

function unknown(word: string): RalphError {
  const meant = closest(word, [...Object.keys(TOPICS), ...Object.keys(COMMANDS)]);
  const hint = meant === null ? "all of them: ralph help" : `ralph help ${meant}`;
  return new RalphError("usage", `there is neither a topic nor a command "${word}"`, { hint });
}

/** A topic for the terminal; `root` is where the pages lie that it names. */
function topicLines(markdown: string, style: Style, root: string): readonly string[] {
  const lines = helpBlocks(markdown).flatMap((block, at) => [
    ...(at === 0 ? [] : [""]),
    ...blockLines(block, style),
  ]);
  const namesPages = lines.some((line) => line.startsWith("More: "));
  return namesPages ? [...lines, style.dim(`These pages are in ${root}`)] : lines;
}

function blockLines(block: HelpBlock, style: Style): readonly string[] {
  switch (block.is) {
    case "heading":
      return [style.bold(block.text)];
    case "paragraph":
      return block.lines.map((line) => inline(line, style));
    case "list":
      return block.items.map((item, at) => `  ${at + 1}. ${inline(item, style)}`);
    case "code":
      return block.lines.map((line) => (line === "" ? "" : `    ${line}`));
    case "table":
      return tableLines(block.rows, style);
  }
}

function tableLines(rows: readonly (readonly string[])[], style: Style): readonly string[] {
  const plain = rows.map((row) => row.map(withoutMarks));
  const widths = (plain[0] ?? []).map((_, column) =>
    Math.max(...plain.map((row) => row[column]?.length ?? 0)),
  );
  return plain.map((row, at) => {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    return `  ${at === 0 ? style.dim(line.trimEnd()) : line.trimEnd()}`;
  });
}

/** Code is set off by weight where the terminal has it, links say where they lead. */
function inline(text: string, style: Style): string {
  const linked = withLinks(text);
  return style.bold("x") === "x"
    ? linked
    : linked.replaceAll(/`([^`]+)`/g, (_, code: string) => style.bold(code));
}

/** In a table the columns show what is what. */
function withoutMarks(text: string): string {
  return withLinks(text).replaceAll("`", "");
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
  "getting-started": "from nothing to a first accepted task",
  tasks: "where tasks come from, and how they are marked",
  gates: "commands that must pass before a task counts as done",
  verdicts: "when a task is done",
  stopping: "when a run stops, and how to stop it",
  "exit-codes": "what the exit code of a command says",
  configuration: "what can be set, and where",
  files: "what lies where",
  environment: "variables that Ralph reads, and those that it sets",
  sandbox: "agents that see their work and little else",
  lanes: "several tasks at a time on one machine",
  workers: "several machines that share one queue",
  people: "what waits for you, and how to answer",
  troubleshooting: "what to do when it does not do what you want",
} as const satisfies Record<string, string>;

/** What the Markdown of a topic is made of. It has no more than this, so that terminal and manual can show all of it. */
export type HelpBlock =
  | { readonly is: "heading"; readonly text: string }
  | { readonly is: "paragraph"; readonly lines: readonly string[] }
  /** Numbered. */
  | { readonly is: "list"; readonly items: readonly string[] }
  | { readonly is: "code"; readonly lines: readonly string[] }
  /** The first row is the head. */
  | { readonly is: "table"; readonly rows: readonly (readonly string[])[] };

export function helpBlocks(markdown: string): readonly HelpBlock[] {
  const lines = markdown.split("\n");
  const blocks: HelpBlock[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    if (line === "") at += 1;
    else if (line.startsWith("```")) {
      const end = lines.indexOf("```", at + 1);
      blocks.push({ is: "code", lines: lines.slice(at + 1, end) });
      at = end + 1;
    } else {
      const end = lines.indexOf("", at);
      const own = lines.slice(at, end === -1 ? lines.length : end);
      blocks.push(proseBlock(own));
      at += own.length;
    }
  }
  return blocks;
}

const NUMBER = /^\d+\. /;

function proseBlock(lines: readonly string[]): HelpBlock {
  const first = lines[0] ?? "";
  if (first.startsWith("#")) return { is: "heading", text: first.replace(/^#+ /, "") };
  if (first.startsWith("|")) {
    const rows = lines.filter((line) => !isDelimiterRow(line)).map(cellsOf);
    return { is: "table", rows };
  }
  if (NUMBER.test(first)) return { is: "list", items: lines.map((line) => line.replace(NUMBER, "")) };
  return { is: "paragraph", lines };
}

/** Whether a line is what separates the head of a table from its rows. */
export function isDelimiterRow(line: string): boolean {
  return /^\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/.test(line);
}

/** The cells of a row; a bar after a backslash belongs to its cell, also in code. */
export function cellsOf(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"));
}
