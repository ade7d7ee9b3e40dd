import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allBlocks, PAGES, ROOT } from "./code-blocks.ts";
import type { Complaint } from "./parse-command.ts";
import { commandsOf, ralphArguments } from "./shell-lines.ts";

/** A `ralph …` somewhere in the documentation. */
export interface WrittenCommand {
  readonly page: string;
  readonly where: "sh" | "console" | "text";
  readonly line: string;
  readonly args: readonly string[];
}

/** Its usages are made from the program itself. */
const GENERATED = "docs/reference/commands.md";

/** What works anywhere and at once, on what the repository of the night has. */
const LOOKS =
  /^(?:analyze|blocked|config|decide|doctor|gates|history|inbox|interventions|lessons|logs|metrics|profile|promises|prompt|replay|report|status|steer|tasks|unblock|verify|why)\b|--dry-run|^init$/;
/** Names of what only the reader has, and what leaves the machine. */
const ELSEWHERE = /tasks (?:accept|dismiss) \d|3f9c|3f2a91|night\.jsonl|out\.jsonl|--notify|npm /;

export function writtenCommands(): readonly WrittenCommand[] {
  return [...inBlocks(), ...inText()];
}

/** Those that can be performed for real in the repository of the night, each once. */
export function performableOf(written: readonly WrittenCommand[]): readonly WrittenCommand[] {
  const here = written.filter(
    ({ where, line, args }) => where === "sh" && LOOKS.test(args.join(" ")) && !ELSEWHERE.test(line),
  );
  return [...new Map(here.map((one) => [one.args.join("\0"), one])).values()];
}

/** In the text a command may be named without what it needs, or with a word in capitals in its place. */
export function isMistake({ where }: WrittenCommand, { code, message }: Complaint): boolean {
  const isShortened =
    ["commander.missingArgument", "commander.optionMissingArgument"].includes(code) ||
    (code === "commander.invalidArgument" && /'[A-Z]+' is invalid/.test(message)) ||
    (code === "usage" && / is "[A-Z]+"/.test(message));
  return !(where === "text" && isShortened);
}

function inBlocks(): readonly WrittenCommand[] {
  const blocks = allBlocks("sh", "console").filter(({ page }) => page !== GENERATED);
  return blocks.flatMap(({ page, language, text }) =>
    text
      .split("\n")
      .flatMap((line) =>
        language === "sh"
          ? commandsIn(page, "sh", line)
          : commandsIn(page, "console", /^\$ (.*)/.exec(line)?.[1] ?? ""),
      ),
  );
}

function inText(): readonly WrittenCommand[] {
  return PAGES.flatMap((page) => {
    const named = readFileSync(join(ROOT, page), "utf8").matchAll(/(?<!`)`(ralph [^`\n]+)`(?!`)/g);
    return [...named].flatMap(([, line = ""]) =>
      commandsIn(page, "text", line.replaceAll(/ or [A-Z]+|[[\]]/g, "")),
    );
  });
}

function commandsIn(page: string, where: WrittenCommand["where"], line: string): readonly WrittenCommand[] {
  return commandsOf(line).flatMap((command) => {
    const args = ralphArguments(command);
    return args === null ? [] : [{ page, where, line, args }];
  });
}
