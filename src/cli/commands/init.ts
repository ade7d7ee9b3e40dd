import { asArgument } from "../../core/text.ts";
import { BUILD_TEMPLATE } from "../../core/prompt/build-prompt.ts";
import { UNVERSIONED } from "../../core/projections/ralph-files.ts";
import { callsSameHook, claudeHooks, shellWord, type WantedHook } from "../../core/agents.ts";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { Option, type Command } from "commander";
import { INTERRUPTED } from "../check-now.ts";
import type { Act, CliContext } from "../commands.ts";
import {
  chosenOf,
  configText,
  detectGates,
  notesTemplate,
  TEMPLATES,
  tryGates,
  type FoundGate,
  type TemplateKind,
  type TriedGate,
} from "../init/templates.ts";
import { findPrd } from "../plan/plan-files.ts";
import {
  builtInAgents,
  detectedLists,
  detectedSource,
  findProgram,
  JsonError,
  memberOf,
  openProject,
  ownCommand,
  prepareFolder,
  readConfig,
  readJson,
  safePath,
  writeFileAtomically,
  type Project,
} from "../../compose.ts";
import { findConfig } from "../../config/find-config.ts";
import { RalphError } from "../../core/ralph-error.ts";
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
    .action((flags: Flags) => act((context) => init(flags, context)));
}

/** Writes what is missing and says so; doing it again changes nothing. */
async function init(flags: Flags, context: CliContext): Promise<number> {
  const name = nameOf(flags.name);
  const project = await openProject(context);
  const renew = flags.force === true;
  const hasProgram = (program: string): boolean => findProgram(program, project.root, context.env) !== null;
  const isHere = (one: AgentSettings): boolean => one.command === null && hasProgram(one.name);
  const installed = builtInAgents().find(isHere)?.name ?? null;
  const { found, problem } = detectGates(project.root, hasProgram);
  const config = join(project.ralphDir, "ralph.toml");
  const other = existsSync(config) ? null : await findConfig(project.root, project.ralphDir);
  const isConfigured = other !== null || (existsSync(config) && !renew);
  const wantsHooks = flags.hooks === true;
  const agent = wantsHooks && isConfigured ? (await readConfig(project, context.env)).agent : installed;
  // Read before anything is written, so that a damaged file leaves nothing half done.
  const hooks = wantsHooks ? readHooks(project, context, { agent, renew }) : null;
  const tried = isConfigured ? [] : await tryGates(found, project, context);
  if (tried === null) return INTERRUPTED;
  prepareFolder(project);
  const report = new InitReport(project, context, renew);
  if (other !== null) report.found(other.shown);
  else report.write(config, configText(installed, tried), foundInWords(installed, found, tried));
  if (!isConfigured && problem !== null)
    context.stderr.write(
      `ralph: ${problem}; its scripts are not among the gates\n  → repair it, then: ralph init --force\n`,
    );
  if (flags.prompts === true)
    report.write(join(project.ralphDir, "prompts", "build.md"), BUILD_TEMPLATE, "the built-in prompt");
  const beginning = begin(project, flags.source, name, report);
  const gitignore = join(project.root, ".gitignore");
  const ignore = withIgnoreLines(gitignore, relative(project.root, project.ralphDir));
  if (ignore !== null) report.replace(gitignore, ignore, "what is not for the repository");
  const toCommit = hooks === null ? [] : writeHooks(hooks, report);
  if (!report.hasWritten) report.say("\nEverything is there already: nothing was changed.");
  const hasAgent = isConfigured || installed !== null;
  const hasGates = (isConfigured ? found : tried).length > 0;
  const lacksTool = !isConfigured && tried.length < found.length;
  for (const line of nextSteps(beginning, { toCommit, hasAgent, hasGates, lacksTool })) report.say(line);
  return 0;
}

function foundInWords(
  agent: string | null,
  found: readonly FoundGate[],
  tried: readonly TriedGate[],
): string {
  const checks = chosenOf(tried).map(({ name, command }) => `${name}: ${command}`);
  const none = found.length === 0 ? "no tests were recognised" : "no check can run here";
  return `agent: ${agent ?? "demo, as none was found"}; ${checks.length === 0 ? none : checks.join(", ")}`;
}

function nameOf(said: string | undefined): string | null {
  if (said === undefined) return null;
  const name = said.trim();
  if (name !== "" && !/\p{Cc}/u.test(name)) return name;
  throw new RalphError("usage", `--name is ${JSON.stringify(said)}; expected a name on one line`);
}

/** An example only where there is nothing to work from yet, or the kind that was asked for. */
function begin(
  project: Project,
  kind: TemplateKind | undefined,
  name: string | null,
  report: InitReport,
): Beginning {
  if (kind === undefined) {
    const found = detectedSource(project);
    if (found !== null) {
      report.found(found.path ?? found.label);
      for (const line of listLines(detectedLists(project))) report.say(line);
      return { is: found.kind === "prompt" ? "prompt" : "tasks", path: found.path ?? found.label };
    }
    const prd = findPrd(project);
    if (prd !== null) {
      report.found(report.shown(prd));
      return { is: "requirements", path: report.shown(prd) };
    }
  }
  return beginWith(project, kind ?? "checklist", name, report);
}

function beginWith(
  { root, ralphDir }: Project,
  kind: TemplateKind,
  name: string | null,
  report: InitReport,
): Beginning {
  const template = TEMPLATES[kind];
  const path = join(template.isOurs ? ralphDir : root, template.path);
  report.begin(path, template.text(name), "an example to replace");
  if (kind === "prd" || kind === "tasks")
    report.begin(join(ralphDir, "progress.txt"), notesTemplate(name), "notes that agents leave each other");
  const is = kind === "prd" ? "requirements" : kind === "prompt" ? "prompt" : "tasks";
  return { is, path: report.shown(path) };
}

/** The hooks of a project, read and thought through; nothing is written before that. */
interface HookEdits {
  readonly files: readonly HookFile[];
  readonly notes: readonly string[];
}

interface HookFile {
  /** Relative to the root. */
  readonly path: string;
  readonly real: string;
  /** The new text; null when our hooks are there already. */
  readonly text: Buffer | null;
}

/** Our hooks in the project's own settings of the agents that read such. A damaged file is an error. */
function readHooks(
  project: Project,
  { cwd, env }: CliContext,
  { agent, renew }: { readonly agent: string | null; readonly renew: boolean },
): HookEdits {
  const ralph = shellWord(ownCommand(cwd, env));
  const isUsed = (name: string): boolean => agent === name || existsSync(join(project.root, `.${name}`));
  const settings: readonly (readonly [path: string, hooks: readonly WantedHook[]])[] = [
    [".claude/settings.json", claudeHooks(ralph)],
    ...(isUsed("gemini") ? [[".gemini/settings.json", geminiHooks(ralph)] as const] : []),
  ];
  const files = settings.map(([path, hooks]) => {
    const real = safePath(project.root, path);
    const file = existsSync(real) ? readFileSync(real) : Buffer.alloc(0);
    return { path, real, text: withHooks(file, path, hooks, renew) };
  });
  const usesCodex = isUsed("codex") || findProgram("codex", project.root, env) !== null;
  const notes = [
    ...(ralph === "ralph" ? [] : [`the hooks call ${ralph}, which only this machine has there`]),
    ...(usesCodex ? ["codex is left out: it runs hooks only with a flag that trusts all of them"] : []),
  ];
  return { files, notes };
}

/** Writes what is new; answers those files. */
function writeHooks({ files, notes }: HookEdits, report: InitReport): readonly string[] {
  for (const { real, text } of files) {
    if (text === null) report.kept(real);
    else report.replace(real, text, "ralph is asked before the agent stops");
  }
  for (const note of notes) report.say(`note   ${note}`);
  return files.filter(({ text }) => text !== null).map(({ path }) => path);
}

/** Its event for the same moment has another name. */
function geminiHooks(ralph: string): readonly WantedHook[] {
  const hook = { name: "ralph", type: "command", command: `${ralph} hook stop` };
  return [{ event: "AfterAgent", entry: { hooks: [hook] } }];
}

type JsonNode = ReturnType<typeof readJson>;

/** The settings with our hooks, else byte for byte; null if they are there. `renew` updates old calls. */
export function withHooks(
  file: Buffer,
  path: string,
  wanted: readonly WantedHook[],
  renew: boolean,
): Buffer | null {
  const start = file.toString("latin1").trim() === "" ? Buffer.from("{}\n") : file;
  const edited = wanted.reduce((settings, hook) => withHook(settings, path, hook, renew), start);
  return edited.equals(file) ? null : edited;
}

function withHook(file: Buffer, path: string, { event, entry }: WantedHook, renew: boolean): Buffer {
  const top = parse(file, path);
  if (top.is !== "object") throw wrongShape(path, "an object");
  const hooks = memberOf(top, "hooks")?.value;
  if (hooks === undefined) return insert(file, top, "hooks", { [event]: [entry] });
  if (hooks.is !== "object") throw wrongShape(path, 'an object under "hooks"');
  const list = memberOf(hooks, event)?.value;
  if (list === undefined) return insert(file, hooks, event, [entry]);
  if (list.is !== "array") throw wrongShape(path, `a list under "hooks.${event}"`);
  const command = entry.hooks[0]?.command ?? "";
  const ours = commandsIn(list).find(({ value }) => callsSameHook(value, command));
  if (ours === undefined) return insert(file, list, null, entry);
  return renew && ours.value !== command ? replace(file, ours, JSON.stringify(command)) : file;
}

function parse(file: Buffer, path: string): JsonNode {
  try {
    return readJson(file);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = file.toString("latin1", 0, error.offset).split("\n").length;
    throw new RalphError("config", `${path}:${line}: this is not JSON; ${error.message}`, {
      hint: "repair it first; nothing was changed in it",
      cause: error,
    });
  }
}

function wrongShape(path: string, expected: string): RalphError {
  return new RalphError("config", `${path}: expected ${expected}`, {
    hint: "repair it first; nothing was changed in it",
  });
}

interface CommandText {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function commandsIn(list: JsonNode): readonly CommandText[] {
  const entries = list.is === "array" ? list.items : [];
  return entries.flatMap((entry) => {
    const hooks = entry.is === "object" ? memberOf(entry, "hooks")?.value : undefined;
    return (hooks?.is === "array" ? hooks.items : []).flatMap((hook) => {
      const command = hook.is === "object" ? memberOf(hook, "command")?.value : undefined;
      if (command?.is !== "scalar" || typeof command.value !== "string") return [];
      return [{ value: command.value, start: command.start, end: command.end }];
    });
  });
}

function replace(file: Buffer, { start, end }: Pick<CommandText, "start" | "end">, text: string): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(text), file.subarray(end)]);
}

/** One more member (with a key) or item after the last one, laid out as the file is. */
function insert(
  file: Buffer,
  into: Exclude<JsonNode, { is: "scalar" }>,
  key: string | null,
  value: unknown,
): Buffer {
  const text = file.toString("latin1");
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const step = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const last = into.is === "object" ? into.members.at(-1) : into.items.at(-1);
  const lastStart = last === undefined ? null : "key" in last ? last.keyStart : last.start;
  const lastEnd = last === undefined ? null : "key" in last ? last.value.end : last.end;
  const before = lastStart === null ? null : /[ \t\r\n]*$/.exec(text.slice(into.start, lastStart))?.[0];
  const isOneLine = before != null && !before.includes("\n");
  const indent = before?.split("\n").at(-1) ?? `${indentAt(text, into.start)}${step}`;
  const label = key === null ? "" : `${JSON.stringify(key)}: `;
  const shown = isOneLine
    ? JSON.stringify(value)
    : JSON.stringify(value, null, step).replaceAll("\n", `${newline}${indent}`);
  if (lastEnd !== null)
    return replace(file, { start: lastEnd, end: lastEnd }, `,${before ?? ""}${label}${shown}`);
  const inside = `${newline}${indent}${label}${shown}${newline}${indentAt(text, into.start)}`;
  return replace(file, { start: into.start + 1, end: into.end - 1 }, inside);
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
}

/** Writes files and says so, a line each. */
class InitReport {
  readonly #project: Project;
  readonly #context: CliContext;
  readonly #force: boolean;
  #wrote = false;

  constructor(project: Project, context: CliContext, force: boolean) {
    this.#project = project;
    this.#context = context;
    this.#force = force;
  }

  get hasWritten(): boolean {
    return this.#wrote;
  }

  say(line: string): void {
    this.#context.stdout.write(`${line}\n`);
  }

  found(path: string): void {
    this.say(`found  ${path}`);
  }

  kept(path: string): void {
    this.say(`kept   ${this.shown(path)}`);
  }

  /** Ours: written anew when that is asked for; what stood there may have been edited, and is kept. */
  write(path: string, text: string, what: string): void {
    if (!existsSync(path)) this.replace(path, text, what);
    else if (!this.#force || readFileSync(this.#inside(path), "utf8") === text) this.kept(path);
    else {
      const time = isoTime(Date.now()).replaceAll(":", "-");
      const old = join(this.#project.ralphDir, "logs", `${basename(path)}.before-${time}`);
      this.replace(old, readFileSync(this.#inside(path)), `what ${basename(path)} was until now`);
      this.replace(path, text, what);
    }
  }

  /** The operator's: never overwritten. */
  begin(path: string, text: string, what: string): void {
    if (existsSync(path)) this.kept(path);
    else this.replace(path, text, what);
  }

  replace(path: string, text: string | Buffer, what: string): void {
    const real = this.#inside(path);
    mkdirSync(dirname(real), { recursive: true });
    writeFileAtomically(real, text);
    this.#wrote = true;
    this.say(`wrote  ${this.shown(path).padEnd(24)} ${what}`);
  }

  /** Where it really is: a link that leads outside is refused. */
  #inside(path: string): string {
    const { root, ralphDir } = this.#project;
    const place = path.startsWith(ralphDir + sep) ? ralphDir : root;
    return safePath(place, relative(place, path));
  }

  shown(path: string): string {
    return relative(this.#project.root, path);
  }
}

const LISTED_MAX = 5;

/** What the lists of tasks in a project are, and how to work on another one than the first. */
function listLines(lists: ReturnType<typeof detectedLists>): readonly string[] {
  const [first, ...others] = lists;
  if (first === undefined) return [];
  const more = others.length - LISTED_MAX;
  return [
    first.kind === "prompt"
      ? `       ${first.is}: it stays as it is`
      : `       ${first.is}: ralph works on it where it lies, and marks there what is done`,
    ...others
      .slice(0, LISTED_MAX)
      .map(({ path, is }) => `also   ${path}, ${is}: ralph run --source ${asArgument(path)}`),
    ...(more > 0 ? [`       and ${more} more`] : []),
  ];
}

const HEADING = "# ralph: views, letters and logs";

/** The text of `.gitignore` with our lines in it, or null when they are there already. */
function withIgnoreLines(path: string, folder: string): string | null {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = UNVERSIONED.map((name) => `${folder}/${name}`).filter((line) => !present.has(line));
  if (missing.length === 0) return null;
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const gap = start === "" ? "" : "\n";
  return `${start}${gap}${present.has(HEADING) ? "" : `${HEADING}\n`}${missing.join("\n")}\n`;
}

/** Whoever works without an agent of their own sees the loop, and no work. */
const PRETENDS =
  "install a coding agent (ralph doctor names them), then: ralph init --force     # demo only pretends to work";

/** What a person works from after `ralph init`: a list of tasks, or requirements without one. */
interface Beginning {
  readonly is: "tasks" | "prompt" | "requirements";
  readonly path: string;
}

interface Written {
  /** Files outside of `.ralph/`. */
  readonly toCommit: readonly string[];
  readonly hasAgent: boolean;
  readonly hasGates: boolean;
  /** A check was found that cannot run here. */
  readonly lacksTool: boolean;
}

function nextSteps(
  { is, path }: Beginning,
  { toCommit, hasAgent, hasGates, lacksTool }: Written,
): readonly string[] {
  const steps = [
    ...(hasAgent ? [] : [PRETENDS]),
    ...(lacksTool ? ["install what was left out, then: ralph init --force"] : []),
    ...BEGIN[is](path),
    ...(toCommit.length === 0
      ? []
      : [`git add ${toCommit.map(asArgument).join(" ")} && git commit -m "Hooks for ralph"`]),
    "ralph run --dry-run     # what would be done, and the first prompt",
    "ralph run",
  ];
  const numbered = steps.map((step, at) => `  ${at + 1}. ${step}`);
  const goal = `ralph run "what you want"${hasGates ? "" : ' --check "npm test"'}`;
  return ["", "Next:", ...numbered, `Or one goal without a list: ${goal}`];
}

const BEGIN: Readonly<Record<Beginning["is"], (path: string) => readonly string[]>> = {
  tasks: (path) => [`write your tasks into ${path}`],
  prompt: (path) => [`write your goal into ${path}`],
  requirements: (path) => [
    `write down what is wanted in ${path}`,
    "ralph plan              # the agent makes stories of it, and they are checked",
  ],
};
