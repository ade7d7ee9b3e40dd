import { few } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkNow, tailLines } from "../check-now.ts";
import type { CliContext } from "../commands.ts";
import { styleFor } from "../print/style.ts";
import { NO_PLUGINS } from "../../compose-plugins.ts";
import { JsonError, readJson, workspaceOf, type Project } from "../../compose.ts";
import { resolveGates } from "../../config/resolve-settings.ts";
import type { SourceKind } from "../../core/plan/task.ts";
import { outcomeOf, whyMissing, type GateResult } from "../../core/report/checked-gate.ts";

/** What `ralph init` can begin a project with: a kind of task source, or requirements to make one of. */
export type TemplateKind = keyof typeof TEMPLATES;

interface Template {
  readonly path: string;
  /** Whether the path lies below `.ralph/`, or below the root. */
  readonly isOurs: boolean;
  /** A small example; without a name it says what it is and no more. */
  readonly text: (name: string | null) => string;
}

export const TEMPLATES = {
  checklist: {
    path: "TODO.md",
    isOurs: false,
    text: (name) => `# ${heading(name, "Tasks")}

- [ ] Say hello
  - HELLO.md greets the reader
`,
  },
  roadmap: {
    path: "roadmap.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Roadmap")}

## Phase 1

- [ ] **task-001**: Say hello
  - ralph: true
  - max_iterations: 10
  - success: HELLO.md greets the reader
`,
  },
  tasks: {
    path: "tasks.json",
    isOurs: true,
    text: (name) => `{
  "project": ${JSON.stringify(name ?? "my project")},
  "description": "",
  "verifyCommands": [],
  "userStories": [
    {
      "id": "US-001",
      "title": "Say hello",
      "description": "",
      "acceptanceCriteria": ["HELLO.md greets the reader"],
      "priority": 1,
      "passes": false
    }
  ]
}
`,
  },
  prompt: {
    path: "PROMPT.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Goal")}

Say hello: HELLO.md greets the reader.
`,
  },
  prd: {
    path: "prd.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Requirements")}

## What is wanted, and for whom

Say hello: whoever opens the repository is greeted.

## How one sees that it is there

- HELLO.md greets the reader

## What it builds on, and what must stay as it is

## What is not wanted

## Questions and answers
`,
  },
} as const satisfies Record<string, Template>;

/** Notes that agents leave for each other; they go into every prompt, so they explain themselves. */
export function notesTemplate(name: string | null): string {
  return `# ${heading(name, "Notes")}

Append what whoever works next has to know (decisions, traps, commands), one short line each.
`;
}

/** The name that a heading made here has; null when it has none, or was not made here. */
function nameIn(text: string): string | null {
  return /^(?:\uFEFF)?# (.+): (?:tasks|roadmap|goal|requirements|notes)\r?\n/.exec(text)?.[1] ?? null;
}

function heading(name: string | null, what: string): string {
  return name === null ? what : `${name}: ${what.toLowerCase()}`;
}

/** The configuration that a person starts with: what was found, and the next things they may want. */
export function configText(agent: string | null, gates: readonly TriedGate[]): string {
  return `${agentText(agent)}\n${gatesText(gates)}`;
}

/** One of each name, the first. */
export function chosenOf(gates: readonly TriedGate[]): readonly TriedGate[] {
  return gates.filter((gate, at) => gates.findIndex(({ name }) => name === gate.name) === at);
}

const WHY = "# what must pass before a task counts as done";

function gatesText(gates: readonly TriedGate[]): string {
  if (gates.length === 0)
    return `# [[gates]]                    ${WHY}\n# name = "tests"\n# command = "npm test"\n`;
  const chosen = chosenOf(gates);
  const texts = gates.map((gate, at) => {
    const head = at === 0 ? `[[gates]]                      ${WHY}` : "[[gates]]";
    if (chosen.includes(gate)) return `${head}\n${gateText(gate)}\n`;
    return `# ${head}\n# ${gateText({ ...gate, name: `${gate.name}-2` }).replace("\n", "\n# ")}\n`;
  });
  return texts.join("\n");
}

function gateText({ name, command, because, said }: TriedGate): string {
  const found = `# found in ${because}, ${said}`.replaceAll(/\p{Cc}+/gu, " ");
  return `name = "${name}"\ncommand = ${JSON.stringify(command).padEnd(20)} ${found}`;
}

function agentText(agent: string | null): string {
  if (agent !== null) return `agent = "${agent}"               # found on this machine\n`;
  return `agent = "demo"                 # scripted, for trying things out; no agent was found on this machine
# agent = "claude"             # or codex, gemini, opencode, copilot, acp:COMMAND, or any command line:

# [agents.mine]                # reads the prompt on stdin; then: agent = "mine"
# command = ["my-agent", "--yes"]
`;
}

/** What an archived file leaves in its place, ready for the next list; null: nothing. */
export function freshText(
  role: "tasks" | "checklist" | "requirements" | "notes" | "letter",
  kind: SourceKind,
  old: string,
): string | null {
  switch (role) {
    case "tasks":
      return freshSource(kind, old);
    case "checklist":
      return TEMPLATES.checklist.text(nameIn(old));
    case "requirements":
      return TEMPLATES.prd.text(nameIn(old));
    case "notes":
      return freshNotes(old);
    case "letter":
      return null;
  }
}

function freshSource(kind: SourceKind, old: string): string {
  switch (kind) {
    case "roadmap":
      return TEMPLATES.roadmap.text(nameIn(old));
    case "tasks-json":
      return emptyStories(old);
    case "prompt":
      return TEMPLATES.prompt.text(nameIn(old));
    case "checklist":
    case "goal":
    case "plugin":
      return TEMPLATES.checklist.text(nameIn(old));
    // Of other programs, who have their own way of beginning anew; such lists are not archived.
    case "task-list":
    case "beads":
    case "ralphex":
    case "github":
      return old;
  }
}

/** Notes that began with our own words begin with them again. */
function freshNotes(old: string): string {
  const template = notesTemplate(nameIn(old));
  return old.startsWith(template) ? template : "";
}

/** Name and checks are the project's and stay; branch and stories were the list's. */
function emptyStories(old: string): string {
  const { project, verifyCommands } = objectIn(old);
  const fresh = {
    project: typeof project === "string" ? project : "my project",
    description: "",
    verifyCommands: Array.isArray(verifyCommands) ? (verifyCommands as unknown[]) : [],
    userStories: [],
  };
  return `${JSON.stringify(fresh, null, 2)}\n`;
}

function objectIn(json: string): { readonly project?: unknown; readonly verifyCommands?: unknown } {
  try {
    const value: unknown = JSON.parse(json.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // a file that is no JSON has nothing to hand on
  }
}

/** A command of the project that looks like a check, and what shows it. */
export interface FoundGate {
  readonly name: string;
  readonly command: string;
  readonly because: string;
}

interface FoundGates {
  /** In a project of several parts there may be several of a name; the first one counts most. */
  readonly found: readonly FoundGate[];
  /** Why the scripts of `package.json` are not among them, and where; null when they were looked at. */
  readonly problem: string | null;
}

/** Reads a file of the project; null when it is not there. */
type ReadFile = (name: string) => string | null;

/** What the project itself calls its checks. A Makefile comes first among those that call the same programs. */
export function detectGates(root: string, hasProgram: (name: string) => boolean): FoundGates {
  const read: ReadFile = (name) => {
    const path = join(root, name);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  };
  const has = (name: string): boolean => existsSync(join(root, name));
  const node = nodeGates(read, has);
  const found = [
    ...node.found,
    ...makeGates(read),
    ...goGates(read),
    ...rustGates(read, hasProgram),
    ...pythonGates(read, has),
  ];
  return { ...node, found };
}

function makeGates(read: ReadFile): readonly FoundGate[] {
  for (const because of ["Makefile", "makefile", "GNUmakefile"]) {
    const text = read(because);
    if (text === null) continue;
    const hasTarget = (target: string): boolean => new RegExp(`^${target}[ \\t]*::?(?!=)`, "m").test(text);
    const tests = ["test", "check"].find(hasTarget);
    return [
      ...(tests === undefined ? [] : [{ name: "tests", command: `make ${tests}`, because }]),
      ...(hasTarget("lint") ? [{ name: "lint", command: "make lint", because }] : []),
    ];
  }
  return [];
}

function goGates(read: ReadFile): readonly FoundGate[] {
  if (!/^module /m.test(read("go.mod") ?? "")) return [];
  return [
    { name: "tests", command: "go test ./...", because: "go.mod" },
    { name: "vet", command: "go vet ./...", because: "go.mod" },
  ];
}

/** Clippy comes with Rust or not; without it cargo fails, so it is asked for only where it is. */
function rustGates(read: ReadFile, hasProgram: (name: string) => boolean): readonly FoundGate[] {
  if (!/^\[(?:package|workspace)\]/m.test(read("Cargo.toml") ?? "")) return [];
  const clippy = { name: "clippy", command: "cargo clippy --all-targets", because: "Cargo.toml" };
  return [
    { name: "tests", command: "cargo test", because: "Cargo.toml" },
    ...(hasProgram("cargo-clippy") ? [clippy] : []),
  ];
}

function pythonGates(read: ReadFile, has: (name: string) => boolean): readonly FoundGate[] {
  const project = read("pyproject.toml");
  const because = ["pytest.ini", "pyproject.toml", "setup.py"].find((name) => read(name)?.trim());
  if (because === undefined) return [];
  const runner = has("uv.lock") ? "uv run " : has("poetry.lock") ? "poetry run " : "";
  const configured = (tool: string, ...files: readonly string[]): string | undefined =>
    new RegExp(`^\\[tool\\.${tool}[\\].]`, "m").test(project ?? "") ? "pyproject.toml" : files.find(has);
  const ruff = configured("ruff", "ruff.toml", ".ruff.toml");
  const mypy = configured("mypy", "mypy.ini", ".mypy.ini");
  return [
    { name: "tests", command: runner === "" ? "python3 -m pytest" : `${runner}pytest`, because },
    ...(ruff === undefined ? [] : [{ name: "lint", command: `${runner}ruff check .`, because: ruff }]),
    ...(mypy === undefined ? [] : [{ name: "types", command: `${runner}mypy .`, because: mypy }]),
  ];
}

type Manager = "npm" | "pnpm" | "yarn" | "bun";

const LOCKS: readonly (readonly [file: string, manager: Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** Scripts by the name that their gate gets; of several the first that is there. */
const SCRIPTS: readonly (readonly [gate: string, scripts: readonly string[]])[] = [
  ["tests", ["test"]],
  ["lint", ["lint"]],
  ["types", ["typecheck", "type-check", "types", "check-types", "check:types", "tsc"]],
];

/** The scripts of `package.json`, called by the package manager that the project uses; or why it cannot be read. */
function nodeGates(read: ReadFile, has: (name: string) => boolean): FoundGates {
  const text = read("package.json") ?? "{}";
  const problem = problemIn(Buffer.from(text));
  const content: unknown = problem === null ? JSON.parse(text.replace(/^\uFEFF/, "")) : null;
  const { scripts, packageManager } = (content ?? {}) as Readonly<Record<string, unknown>>;
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(packageManager))?.[1];
  const manager = named ?? LOCKS.find(([file]) => has(file))?.[1] ?? "npm";
  const known = { ...(scripts as object | undefined) } as Readonly<Record<string, unknown>>;
  const found = SCRIPTS.flatMap(([name, names]) => {
    const script = names.find((one) => isCheck(known[one]));
    return script === undefined
      ? []
      : [{ name, command: commandFor(manager, script), because: "package.json" }];
  });
  return { found, problem };
}

function problemIn(bytes: Buffer): string | null {
  try {
    readJson(bytes);
    return null;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = bytes.toString("latin1", 0, error.offset).split("\n").length;
    return `package.json:${line} cannot be read: this is not JSON, ${error.message}`;
  }
}

/** What npm writes into a new file fails always, and what watches never ends. */
function isCheck(script: unknown): boolean {
  return (
    typeof script === "string" &&
    script.trim() !== "" &&
    !script.includes("Error: no test specified") &&
    !/(?:^|\s)--?watch(?:All)?(?:\s|=true|$)/.test(script)
  );
}

/** `bun test` is another program than the script. */
function commandFor(manager: string, script: string): string {
  return script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`;
}

/** A check that can run here. */
export interface TriedGate extends FoundGate {
  /** What came of it: `passed in 1.2s`. */
  readonly said: string;
}

const TIMEOUT_MS = 120_000;
const OUTPUT_LINES = 5;

/** Runs each check once and answers those that can run; null when a person has stopped it. */
export async function tryGates(
  found: readonly FoundGate[],
  project: Project,
  context: CliContext,
): Promise<readonly TriedGate[] | null> {
  const { stdout, stderr, env } = context;
  const workspace = workspaceOf(project);
  const before = await workspace.dirtyPaths([]);
  const tried: TriedGate[] = [];
  for (const gate of found) {
    stdout.write(`tried  ${gate.command.padEnd(24)} `);
    const gates = resolveGates([], [], [gate.command]).map((each) => ({ ...each, timeoutMs: TIMEOUT_MS }));
    const [result] = (await checkNow(project, { gates, plugins: NO_PLUGINS }, context)) ?? [];
    if (result === undefined) return null;
    const said = inWords(result);
    stdout.write(`${said}\n`);
    const output = result.status === "passed" || result.tries === 0 ? "" : result.tail;
    for (const line of tailLines(output, styleFor(stdout, env), OUTPUT_LINES)) stdout.write(`${line}\n`);
    if (result.status !== "missing") tried.push({ ...gate, said });
  }
  const left = (await workspace.dirtyPaths([])).filter((path) => !before.includes(path));
  if (left.length > 0)
    stderr.write(
      `ralph: the checks wrote files that git does not ignore: ${few(left)}\n  → commit them, delete them, or add them to .gitignore, before you run ralph\n`,
    );
  return tried;
}

function inWords(result: GateResult): string {
  const { failures } = outcomeOf(result);
  switch (result.status) {
    case "passed":
      return `passed in ${formatDuration(result.durationMs)}`;
    case "timeout":
      return `still running after ${formatDuration(TIMEOUT_MS)}, so it was stopped`;
    case "failed":
      return `failing today: ${failures.length === 0 ? `exit ${result.exitCode ?? "unknown"}` : few(failures, 3)}`;
    default:
      return `left out: ${whyMissing(result)}`;
  }
}
