import { Argument, type Command } from "commander";
import { OWN_ROOT, readTopic } from "../../compose-help.ts";
import { closest } from "../../core/closest.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { COMMANDS, type Act, type CliContext } from "../commands.ts";
import { topicLines } from "../help/topic-lines.ts";
import { TOPICS } from "../help/topics.ts";
import { styleFor } from "../print/style.ts";
import { createProgram } from "../program.ts";

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
