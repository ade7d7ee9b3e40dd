// The manual page, made from the command line and the topics of `ralph help`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandShape, OptionShape } from "../src/cli/commands/completion.ts";
import { TOPICS, withLinks } from "../src/cli/commands/help.ts";
import { type HelpBlock, helpBlocks } from "./help-blocks.ts";

/** Options of every command, explained once. */
const COMMON = ["--help", "--dir", "--verbose"];
/** Topics that have a place of their own in every manual. */
const SECTIONS: Readonly<Record<string, string>> = {
  "exit-codes": "EXIT STATUS",
  environment: "ENVIRONMENT",
  files: "FILES",
};

export function manPage(shapes: readonly CommandShape[]): string {
  const [program, ...commands] = shapes;
  if (program === undefined) throw new Error("there is no program");
  return [
    String.raw`.\" Made by npm run reference from the program itself. Do not edit.`,
    '.TH RALPH 1 "" "" "Ralph"',
    ".SH NAME",
    `ralph \\- ${escaped(lowerFirst(program.summary).replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    ".B ralph",
    escaped(program.usage.replace(/^ralph /, "")),
    ".SH OPTIONS",
    ...program.options.flatMap(optionLines),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ...Object.keys(TOPICS).flatMap(topicLines),
    "",
  ].join("\n");
}

function commandLines({ path, summary, usage, arguments: all, options }: CommandShape): readonly string[] {
  return [
    `.SS ralph ${escaped(path)}`,
    `${escaped(summary)}.`,
    ".PP",
    `.B ${escaped(usage)}`,
    ...all.flatMap(({ name, description }) => tagged(name, description)),
    ...options.filter(({ long }) => !COMMON.includes(long)).flatMap(optionLines),
  ];
}

function optionLines({ flags, description, choices }: OptionShape): readonly string[] {
  return tagged(flags, choices.length === 0 ? description : `${description}: ${choices.join(", ")}`);
}

function topicLines(name: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, "..", "docs", "help", `${name}.md`), "utf8");
  const [, ...blocks] = helpBlocks(text);
  return [`.SH ${SECTIONS[name] ?? name.toUpperCase().replace("-", " ")}`, ...blocks.flatMap(blockLines)];
}

function blockLines(block: HelpBlock): readonly string[] {
  switch (block.is) {
    case "heading":
      return [`.SS ${escaped(block.text)}`];
    case "paragraph":
      return [".PP", ...block.lines.map(prose)];
    case "list":
      return block.items.flatMap((item, at) => [`.IP ${at + 1}. 4`, prose(item)]);
    case "code":
      return [".PP", ".RS 4", ".nf", ...block.lines.map(escaped), ".fi", ".RE"];
    case "table":
      return block.rows
        .slice(1)
        .flatMap(([first = "", ...others]) =>
          tagged(withoutMarks(first), others.filter((cell) => cell !== "").join(": ")),
        );
  }
}

function tagged(tag: string, text: string): readonly string[] {
  return [".TP", `.B ${escaped(tag)}`, text === "" ? ".br" : prose(text)];
}

/** Code is bold. */
function prose(text: string): string {
  const parts = withLinks(text).split("`");
  return escaped(parts[0] ?? "").concat(
    ...parts.slice(1).map((part, at) => (at % 2 === 0 ? `\\fB${inside(part)}\\fP` : inside(part))),
  );
}

function withoutMarks(text: string): string {
  return withLinks(text).replaceAll("`", "");
}

/** A line that begins with a dot or a quote would be a command of the formatter. */
function escaped(text: string): string {
  return inside(text).replace(/^[.']/, String.raw`\&$&`);
}

function inside(text: string): string {
  return text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replaceAll("…", "...")
    .replaceAll("'", String.raw`\(aq`);
}

function lowerFirst(text: string): string {
  return `${text[0]?.toLowerCase() ?? ""}${text.slice(1)}`;
}
