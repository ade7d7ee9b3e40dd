import { type Project, openProject } from "../../app/project.ts";
import { builtInAgents } from "../../app/plugins.ts";
import { ownCommand } from "../../app/run-ports.ts";
import { detectedLists, detectedSource } from "../../adapters/tasks/open-source.ts";
import { findProgram } from "../../adapters/process/process-table.ts";
import { prepareRalphFolder } from "../../adapters/files/ralph-folder.ts";
import { safePath } from "../../adapters/process/safe-path.ts";
import { writeFileAtomically } from "../../adapters/process/atomic-file.ts";
import { asArgument } from "../../core/text.ts";
import { BUILD_TEMPLATE } from "../../core/prompt/build-prompt.ts";
import { UNVERSIONED } from "../../core/views/ralph-files.ts";
import { callsSameHook, claudeHooks, shellWord, type WantedHook } from "../../core/agents.ts";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { Option, type Command } from "commander";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import { tell, type Act, type CliContext } from "../commands.ts";
import {
  chosenOf,
  configText,
  detectGates,
  notesTemplate,
  SCHEMA_FILE,
  SCHEMA_LINE,
  TEMPLATES,
  tryGates,
  type TemplateKind,
} from "../init/templates.ts";
import { findPrd } from "../plan/plan-files.ts";
import { findConfig } from "../../config/find-config.ts";
import {
  type JsonArray,
  JsonError,
  type JsonNode,
  type JsonObject,
  memberOf,
  parseJsonTree,
} from "../../core/json.ts";
import { fieldsOf, listOf, textOf } from "../../core/streams/json-fields.ts";
import { RalphError } from "../../core/errors.ts";
import type { AgentSettings } from "../../core/settings.ts";
import { isoTime } from "../../core/time.ts";

interface Flags {
  readonly source?: TemplateKind;
  readonly name?: string;
  readonly prompts?: boolean;
  readonly hooks?: boolean;
  readonly force?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .addOption(
      new Option("--source <kind>", "which example to write: a kind of task source, or requirements").choices(
        Object.keys(TEMPLATES),
      ),
    )
    .option("--name <name>", "the project's name in the examples")
    .option("--prompts", "write the built-in prompt templates out for editing")
    .option("--hooks", "let Claude Code ask ralph before it stops, in the project's own settings")
    .option(
      "--force",
      "write the configuration, prompts and hooks anew; tasks, requirements and notes are never overwritten",
    )
    .option("--json", "print JSON")
    .action(act(init));
}

/** Writes what is missing and says so; doing it again changes nothing. */
async function init(context: CliContext, flags: Flags): Promise<number> {
  const name = nameOf(flags.name);
  const project = await openProject(context);
  const { root, ralphDir } = project;
  const renew = flags.force === true;
  const hasProgram = (program: string): boolean => findProgram(program, root, context.env) !== null;
  const isHere = (one: AgentSettings): boolean => one.command === null && hasProgram(one.name);
  const installed = builtInAgents().find(isHere)?.name ?? null;
  const { found, problem } = detectGates(root, hasProgram);
  const config = join(ralphDir, "ralph.toml");
  const others = existsSync(config) ? [] : (await findConfig(root, ralphDir)).map(({ shown }) => shown);
  // A tree of YAML names neither agents nor gates.
  const hasJson = others.some((name) => name.endsWith(".json"));
  const isConfigured = hasJson || (existsSync(config) && !renew);
  // Read before anything is written, so that a damaged file leaves nothing half done.
  const hooks = flags.hooks === true ? readHooks(project, context, renew) : null;
  const tried = isConfigured ? [] : await tryGates(found, project, context);
  if (tried === null) return EXIT_CODES.stopped;
  prepareRalphFolder(project.ralphDir);
  const report = new InitReport(project, context.json ? () => {} : context.print, renew);
  for (const name of others) report.found(name);
  if (!hasJson) {
    const checks = chosenOf(tried).map((gate) => `${gate.name}: ${gate.command}`);
    const none = found.length === 0 ? "no tests were recognised" : "no check can run here";
    const said = `agent: ${installed ?? "demo, as none was found"}; ${checks.length === 0 ? none : checks.join(", ")}`;
    report.renew(config, configText(installed, tried), said);
  }
  if (existsSync(config) && readFileSync(config, "utf8").startsWith(SCHEMA_LINE)) {
    const { configJsonSchema } = await import("../../config/json-schema.ts");
    report.refresh(
      join(ralphDir, SCHEMA_FILE),
      `${JSON.stringify(configJsonSchema(), null, 1)}\n`,
      "what the configuration may say, for editors",
    );
  }
  if (!isConfigured && problem !== null)
    context.say(`${problem}; its scripts are not among the gates\n  → repair it, then: ralph init --force`);
  if (flags.prompts === true)
    report.renew(join(ralphDir, "prompts", "build.md"), BUILD_TEMPLATE, "the built-in prompt");
  const beginning = begin(project, flags.source, name, report);
  const gitignore = join(root, ".gitignore");
  const ignore = withIgnoreLines(gitignore, relative(root, ralphDir));
  if (ignore !== null) report.write(gitignore, ignore, "what is not for the repository");
  if (hooks !== null && hooks.text === null) report.kept(join(root, CLAUDE_SETTINGS));
  else if (hooks !== null) {
    report.write(join(root, CLAUDE_SETTINGS), hooks.text ?? "", "ralph is asked before the agent stops");
    if (hooks.ralph !== "ralph")
      report.say(`note   the hooks call ${hooks.ralph}, which only this machine has there`);
  }
  if (!report.hasWritten) report.say("\nEverything is there already: nothing was changed.");
  const steps = [
    ...(isConfigured || installed !== null ? [] : [PRETENDS]),
    ...(!isConfigured && tried.length < found.length
      ? ["install what was left out, then: ralph init --force"]
      : []),
    ...beginning,
    ...(hooks?.text == null ? [] : [`git add ${CLAUDE_SETTINGS} && git commit -m "Hooks for ralph"`]),
    "ralph run --dry-run     # what would be done, and the first prompt",
    "ralph run",
  ];
  report.say(["\nNext:", ...steps.map((step, at) => `  ${at + 1}. ${step}`)].join("\n"));
  if (context.json) return tell(context, { ...report.files, next: steps }, () => []);
  const hasGates = (isConfigured ? found : tried).length > 0;
  report.say(`Or one goal without a list: ralph run "what you want"${hasGates ? "" : ' --check "npm test"'}`);
  return 0;
}

/** Whoever works without an agent of their own sees the loop, and no work. */
const PRETENDS =
  "install a coding agent (ralph doctor names them), then: ralph init --force     # demo only pretends to work";

function nameOf(said: string | undefined): string | null {
  if (said === undefined) return null;
  const name = said.trim();
  if (name !== "" && !/\p{Cc}/u.test(name)) return name;
  throw new RalphError("usage", `--name is ${JSON.stringify(said)}; expected a name on one line`);
}

/** An example only where there is nothing to work from yet, or the kind that was asked for. Answers the next steps. */
function begin(
  project: Project,
  kind: TemplateKind | undefined,
  name: string | null,
  report: InitReport,
): readonly string[] {
  const { root, ralphDir } = project;
  if (kind === undefined) {
    const found = detectedSource(project);
    const path = found?.path ?? found?.label;
    if (path !== undefined) {
      report.found(path, ...listLines(detectedLists(project)));
      return firstSteps(found?.kind === "prompt" ? "prompt" : "tasks", path);
    }
    const prd = findPrd(project);
    if (prd !== null) {
      report.found(relative(root, prd));
      return firstSteps("prd", relative(root, prd));
    }
  }
  const chosen = kind ?? "checklist";
  const template = TEMPLATES[chosen];
  const path = join(template.isOurs ? ralphDir : root, template.path);
  report.begin(path, template.text(name), "an example to replace");
  if (chosen === "prd" || chosen === "tasks")
    report.begin(join(ralphDir, "progress.txt"), notesTemplate(name), "notes that agents leave each other");
  return firstSteps(chosen, relative(root, path));
}

function firstSteps(kind: TemplateKind, path: string): readonly string[] {
  if (kind !== "prd") return [`write your ${kind === "prompt" ? "goal" : "tasks"} into ${path}`];
  return [
    `write down what is wanted in ${path}`,
    "ralph plan              # the agent makes stories of it, and they are checked",
  ];
}

const LISTED_MAX = 5;

/** What the lists of tasks in a project are, and how to work on another one than the first. */
function listLines([first, ...others]: ReturnType<typeof detectedLists>): readonly string[] {
  if (first === undefined) return [];
  const marks = "ralph works on it where it lies, and marks there what is done";
  return [
    `       ${first.is}: ${first.kind === "prompt" ? "it stays as it is" : marks}`,
    ...others
      .slice(0, LISTED_MAX)
      .map(({ path, is }) => `also   ${path}, ${is}: ralph run --source ${asArgument(path)}`),
  ];
}

const HEADING = "# ralph: views, letters and logs";

/** The text of `.gitignore` with our lines in it, or null when they are there already. */
function withIgnoreLines(path: string, folder: string): string | null {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = UNVERSIONED.map((name) => `${folder}/${name}`).filter((line) => !present.has(line));
  if (missing.length === 0) return null;
  const start = text === "" ? "" : `${text.replace(/\n?$/, "\n")}\n`;
  return `${start}${present.has(HEADING) ? "" : `${HEADING}\n`}${missing.join("\n")}\n`;
}

const CLAUDE_SETTINGS = ".claude/settings.json";

/** The project's settings of Claude Code with our hooks in them; a damaged file is an error. */
function readHooks({ root }: Project, { cwd, env }: CliContext, renew: boolean) {
  const ralph = shellWord(ownCommand(cwd, env));
  const real = safePath(root, CLAUDE_SETTINGS);
  const file = existsSync(real) ? readFileSync(real, "utf8") : "";
  return { ralph, text: withHooks(file, CLAUDE_SETTINGS, claudeHooks(ralph), renew) };
}

/** The settings with our hooks, all else as it was; null if they are there. `renew` updates old calls. */
export function withHooks(
  file: string,
  path: string,
  wanted: readonly WantedHook[],
  renew: boolean,
): string | null {
  const mark = file.startsWith("\uFEFF") ? "\uFEFF" : "";
  const start = file.trim() === "" ? "{}\n" : file.slice(mark.length);
  const edited = wanted.reduce((settings, hook) => withHook(settings, path, hook, renew), start);
  return mark + edited === file ? null : mark + edited;
}

function withHook(text: string, path: string, { event, entry }: WantedHook, renew: boolean): string {
  const refuse = (line: string, what: string): RalphError =>
    new RalphError("config", `${path}${line}: ${what}`, {
      hint: "repair it first; nothing was changed in it",
    });
  let top: JsonNode;
  try {
    top = parseJsonTree(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = text.slice(0, error.offset).split("\n").length;
    throw refuse(`:${line}`, `this is not JSON; ${error.message}`);
  }
  if (top.is !== "object") throw refuse("", "expected an object");
  const hooks = memberOf(top, "hooks")?.value;
  if (hooks === undefined) return insert(text, top, "hooks", { [event]: [entry] });
  if (hooks.is !== "object") throw refuse("", 'expected an object under "hooks"');
  const list = memberOf(hooks, event)?.value;
  if (list === undefined) return insert(text, hooks, event, [entry]);
  if (list.is !== "array") throw refuse("", `expected a list under "hooks.${event}"`);
  const command = entry.hooks[0]?.command ?? "";
  const written = text.slice(list.start, list.end);
  const ours = commandsIn(JSON.parse(written)).find((one) => callsSameHook(one, command));
  if (ours === undefined) return insert(text, list, null, entry);
  if (!renew) return text;
  const renewed = written.replace(JSON.stringify(ours), () => JSON.stringify(command));
  return text.slice(0, list.start) + renewed + text.slice(list.end);
}

function commandsIn(list: unknown): readonly string[] {
  const hooks = listOf(list).flatMap((entry) => listOf(fieldsOf(entry)["hooks"]));
  return hooks.flatMap((hook) => textOf(fieldsOf(hook)["command"]) ?? []);
}

/** One more member (with a key) or item after the last one, laid out as the file is. */
function insert(text: string, into: JsonObject | JsonArray, key: string | null, value: unknown): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const step = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const parts =
    into.is === "object"
      ? into.members.map(({ keyStart, value: { end } }) => ({ start: keyStart, end }))
      : into.items;
  const last = parts.at(-1);
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", into.start - 1) + 1))?.[0] ?? "";
  const before = last && /\s*$/.exec(text.slice(into.start, last.start))?.[0];
  const gap = before ?? `${newline}${outer}${step}`;
  const indent = gap.split("\n").at(-1) ?? "";
  const shown = gap.includes("\n")
    ? JSON.stringify(value, null, step).replaceAll("\n", `${newline}${indent}`)
    : JSON.stringify(value);
  const member = `${gap}${key === null ? "" : `${JSON.stringify(key)}: `}${shown}`;
  return last === undefined
    ? `${text.slice(0, into.start + 1)}${member}${newline}${outer}${text.slice(into.end - 1)}`
    : `${text.slice(0, last.end)},${member}${text.slice(last.end)}`;
}

/** Writes files and says so, a line each. */
class InitReport {
  readonly say: (line: string) => void;
  readonly #project: Project;
  readonly #force: boolean;
  /** Relative to the root. */
  readonly files = { wrote: [] as string[], kept: [] as string[], found: [] as string[] };

  constructor(project: Project, say: (line: string) => void, force: boolean) {
    this.#project = project;
    this.say = say;
    this.#force = force;
  }

  get hasWritten(): boolean {
    return this.files.wrote.length > 0;
  }

  kept(path: string): void {
    const shown = relative(this.#project.root, path);
    this.files.kept.push(shown);
    this.say(`kept   ${shown}`);
  }

  found(shown: string, ...lines: readonly string[]): void {
    this.files.found.push(shown);
    this.say([`found  ${shown}`, ...lines].join("\n"));
  }

  /** Ours: written anew when that is asked for; what stood there may have been edited, and is kept. */
  renew(path: string, text: string, what: string): void {
    const old = existsSync(path) ? readFileSync(this.#inside(path), "utf8") : null;
    if (old !== null && (!this.#force || old === text)) return this.kept(path);
    const name = basename(path);
    const copy = `${name}.before-${isoTime(Date.now()).replaceAll(":", "-")}`;
    if (old !== null)
      this.write(join(this.#project.ralphDir, "logs", copy), old, `what ${name} was until now`);
    this.write(path, text, what);
  }

  /** Nobody edits it. */
  refresh(path: string, text: string, what: string): void {
    if (existsSync(path) && readFileSync(this.#inside(path), "utf8") === text) this.kept(path);
    else this.write(path, text, what);
  }

  /** The operator's: never overwritten. */
  begin(path: string, text: string, what: string): void {
    if (existsSync(path)) this.kept(path);
    else this.write(path, text, what);
  }

  write(path: string, text: string, what: string): void {
    const real = this.#inside(path);
    mkdirSync(dirname(real), { recursive: true });
    writeFileAtomically(real, text);
    const shown = relative(this.#project.root, path);
    this.files.wrote.push(shown);
    this.say(`wrote  ${shown.padEnd(24)} ${what}`);
  }

  /** Where it really is: a link that leads outside is refused. */
  #inside(path: string): string {
    const { root, ralphDir } = this.#project;
    const place = path.startsWith(ralphDir + sep) ? ralphDir : root;
    return safePath(place, relative(place, path));
  }
}
