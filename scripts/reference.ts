// `npm run reference`: writes docs/reference/ and man/ from the schema of the configuration, the command line and the labelled
// iterations of the tests, the table of agents, and docs/proof.md and docs/benchmarks.md from what long runs have measured.
// A test compares, so that the pages cannot fall behind.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { commandShapes, type CommandShape } from "../src/cli/commands/completion.ts";
import { createProgram } from "../src/cli/commands.ts";
import { variableOf } from "../src/config/load-config.ts";
import { expectation } from "../src/config/explain-issues.ts";
import { isTable, isTableList, scalarKeys, schemaKeys, type SchemaKey } from "../src/config/json-schema.ts";
import { capabilityTable } from "../test/agents/matrix.ts";
import { LABELLED_ITERATIONS } from "../test/verdicts/all-iterations.ts";
import { apiPage } from "./api-page.ts";
import { benchmarksPage } from "./benchmarks-page.ts";
import { manPage } from "./man-page.ts";
import { proofPage, proofPictures } from "./proof-page.ts";

const root = join(import.meta.dirname, "..");
const GENERATED = "<!-- Made by `npm run reference` from the program itself. Do not edit. -->";
/** Options of every command, explained once. */
const COMMON = ["--help", "--dir", "--verbose"];

if (import.meta.main) {
  for (const [path, text] of Object.entries(await referencePages())) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`reference: ${path}`);
  }
}

/** The text of each page, by its path. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const program = await createProgram("", () => true);
  return {
    "docs/reference/configuration.md": await formatted(configuration(), "docs/reference/configuration.md"),
    "docs/reference/commands.md": await formatted(
      commands(commandShapes(program)),
      "docs/reference/commands.md",
    ),
    "docs/reference/api.md": await formatted(apiPage(GENERATED), "docs/reference/api.md"),
    "docs/reference/verdicts.md": await formatted(verdicts(), "docs/reference/verdicts.md"),
    "docs/proof.md": await formatted(proofPage(GENERATED), "docs/proof.md"),
    "docs/benchmarks.md": await formatted(benchmarksPage(GENERATED), "docs/benchmarks.md"),
    "docs/reference/agents.md": await formatted(agentsReference(), "docs/reference/agents.md"),
    "man/ralph.1": manPage(commandShapes(program)),
    ...proofPictures(),
  };
}

/** The page of the programs, with what each can do between its two marks. */
function agentsReference(): string {
  const [before, , after] = readFileSync(join(root, "docs/reference/agents.md"), "utf8").split(
    /(?<=<!-- capabilities -->\n)([^]*?)(?=<!-- \/capabilities -->)/,
  );
  return `${before}\n${capabilityTable()}\n\n${after}`;
}

/** What the tests run for real, as a table. */
function verdicts(): string {
  const rows = LABELLED_ITERATIONS.map(
    ({ kind, what, verdict, rule }) => `| ${kind} | ${what} | ${verdict} | ${rule ?? ""} |`,
  );
  return `# Verdicts

${GENERATED}

Iterations of which the truth is known, and the verdict that each must get. Every one of them is run by the test
suite: the built program, a real repository, an agent that does just this. How verdicts come about is told in
[the guide](../guide/verdicts.md).

| Kind | The agent … | Verdict | Because of |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}

async function formatted(text: string, path: string): Promise<string> {
  const file = join(root, path);
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

function configuration(): string {
  const keys = schemaKeys();
  const outer = keys.filter(({ key }) => !key.includes("."));
  const sections = outer.filter(({ node }) => isTable(node) || isTableList(node));
  const top = outer.filter((key) => !sections.includes(key));
  return `# Configuration

${GENERATED}

Everything has a default; no file is needed. These files may say otherwise:

| File | What it says |
| --- | --- |
| \`.ralph/ralph.toml\` | every key below |
| \`.ralph/ralph.json\` | the same keys, as JSON |
| \`.ralph/config.yaml\`, or the \`ralph:\` tree in \`.specflow/config.yaml\` | see [below](#configyaml) |

Several of them are merged; a key that two of them set differently is an error that names both places. Order of strength: flag, variable, file, default. \`ralph config\`
prints every value in effect and where it comes from; \`ralph config schema\` prints a JSON Schema for editors.

A wrong key or value stops \`ralph\` before anything is started (exit code 64), with file, line and what to type.
Durations are written \`90s\`, \`45m\` or \`45min\`, \`2h\`, \`1h30m\`; a bare number is seconds. A variable that is
empty counts as not set.

## At the top of the file

${keyTable(top)}

${sections.map((section) => sectionText(section, keys)).join("\n\n")}

## config.yaml

The \`ralph:\` tree of SpecFlow. One that has \`reviewer\`, \`tester\` or \`qa\` is a pipeline of the coder and those:

| In the tree | Here |
| --- | --- |
| \`ralph.NAME.enabled\`, and \`ralph.enabled\` for all | \`stages.NAME.enabled\` |
| \`ralph.NAME.max_iterations\`, else \`ralph.default_max_iterations\` | \`stages.NAME.max_iterations\` |
| \`ralph.NAME.completion_promise\` | \`stages.NAME.completion_promise\` |
| \`ralph.verify_promises\` | \`promise.verify\` |
| \`ralph.require_xml_format\` | \`promise.require_xml\` |

One that speaks of the coder alone means the one stage that there is without a pipeline: its promise is
\`promise.completion\`, its limit the iterations of one task (30 without it); with \`enabled: false\` it is a single
pass of the coder. Anything else in \`.specflow/config.yaml\` belongs to SpecFlow and is not looked at.
`;
}

function sectionText(section: SchemaKey, keys: readonly SchemaKey[]): string {
  const { node } = section;
  const title = isTableList(node)
    ? `[[${section.key}]]`
    : node.properties === undefined
      ? `[${section.key}.NAME]`
      : `[${section.key}]`;
  const inside = keys.filter(({ key }) => key.startsWith(`${section.key}.`));
  return `## \`${title}\`

${capital(node.description ?? "")}.

${keyTable(inside)}`;
}

function keyTable(keys: readonly SchemaKey[]): string {
  const withVariable = new Set(scalarKeys().map(({ key }) => key));
  const hasVariables = keys.some(({ key }) => withVariable.has(key));
  const rows = keys.map(({ key, node }) => [
    code(key.split(".").at(-1)),
    isTable(node) && node.properties === undefined ? "a table of texts" : expectation(node, "toml"),
    node.default === undefined ? "" : code(JSON.stringify(node.default)),
    ...(hasVariables ? [withVariable.has(key) ? code(variableOf(key)) : ""] : []),
    node.description ?? "",
  ]);
  return table(["Key", "Value", "Default", ...(hasVariables ? ["Variable"] : []), "Meaning"], rows);
}

function commands(shapes: readonly CommandShape[]): string {
  const [program, ...others] = shapes;
  if (program === undefined) throw new Error("there is no program");
  return `# Commands

${GENERATED}

${program.summary} Data goes to stdout, messages to stderr.

${optionTable(program, [])}

${others.map(commandText).join("\n\n")}
`;
}

function commandText(shape: CommandShape): string {
  return `## ralph ${shape.path}

${capital(shape.summary)}.

\`\`\`sh
${shape.usage}
\`\`\`

${
  shape.arguments.length === 0
    ? ""
    : table(
        ["Argument", "Meaning"],
        shape.arguments.map((one) => [code(one.name), one.description]),
      )
}

${optionTable(shape, COMMON)}`;
}

function optionTable({ options }: CommandShape, without: readonly string[]): string {
  const rows = options
    .filter(({ long }) => !without.includes(long))
    .map(({ flags, description, choices }) => [
      code(flags),
      choices.length === 0 ? description : `${description}: ${choices.map(code).join(", ")}`,
    ]);
  return rows.length === 0 ? "" : table(["Option", "Meaning"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

function code(text: string | undefined): string {
  return text === undefined ? "" : `\`${text}\``;
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}
