import { checkNow } from "../../app/gates.ts";
import { NO_PLUGINS } from "../../app/plugins.ts";
import { workspaceOf } from "../../app/git-parts.ts";
import type { Project } from "../../app/project.ts";
import { tailLines } from "../print/gate-lines.ts";
import { few } from "../../core/text.ts";
import { formatDuration } from "../../core/time.ts";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliContext } from "../commands.ts";
import { JsonError, parseJsonTree } from "../../core/json.ts";
import { fieldsOf, listOf, parsedJson, textOf } from "../../core/streams/json-fields.ts";
import { resolveGates } from "../../config/resolve-settings.ts";
import type { SourceKind } from "../../core/plan.ts";
import { outcomeOf, whyMissing, type GateResult } from "../../core/verdict/checked-gate.ts";

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

function heading(name: string | null, what: string): string {
  return name === null ? what : `${name}: ${what.toLowerCase()}`;
}

/** Beside the configuration, for editors; as `ralph config schema` prints it. */
export const SCHEMA_FILE = "ralph.schema.json";
export const SCHEMA_LINE = `#:schema ./${SCHEMA_FILE}`;

/** The configuration that a person starts with: what was found, and the next things they may want. */
export function configText(agent: string | null, gates: readonly TriedGate[]): string {
  return `${SCHEMA_LINE}\n${agentText(agent)}\n${gatesText(gates)}`;
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
  // The name that a heading made here has.
  const name = /^(?:\uFEFF)?# (.+): (?:tasks|roadmap|goal|requirements|notes)\r?\n/.exec(old)?.[1] ?? null;
  switch (role) {
    case "tasks":
      if (kind === "tasks-json") return emptyStories(old);
      return TEMPLATES[kind === "roadmap" || kind === "prompt" ? kind : "checklist"].text(name);
    case "checklist":
      return TEMPLATES.checklist.text(name);
    case "requirements":
      return TEMPLATES.prd.text(name);
    case "notes":
      // Notes that began with our own words begin with them again.
      return old.startsWith(notesTemplate(name)) ? notesTemplate(name) : "";
    case "letter":
      return null;
  }
}

/** Name and checks are the project's and stay; branch and stories were the list's. */
function emptyStories(old: string): string {
  const { project, verifyCommands } = fieldsOf(parsedJson(old.replace(/^\uFEFF/, "")));
  const fresh = {
    project: textOf(project) ?? "my project",
    description: "",
    verifyCommands: listOf(verifyCommands),
    userStories: [],
  };
  return `${JSON.stringify(fresh, null, 2)}\n`;
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

/** Reads a file of the project; empty when it is not there. */
type ReadFile = (name: string) => string;
type Ask = (name: string) => boolean;

/** What the project itself calls its checks. A Makefile comes first among those that call the same programs. */
export function detectGates(root: string, hasProgram: Ask): FoundGates {
  const has = (name: string): boolean => existsSync(join(root, name));
  const read: ReadFile = (name) => (has(name) ? readFileSync(join(root, name), "utf8") : "");
  const node = nodeGates(read, has);
  return { ...node, found: [...node.found, ...otherGates(read, has, hasProgram)] };
}

function otherGates(read: ReadFile, has: Ask, hasProgram: Ask): readonly FoundGate[] {
  const makefile = ["Makefile", "makefile", "GNUmakefile"].find(has);
  const targets = makefile === undefined ? "" : read(makefile);
  const hasTarget = (target: string): boolean => new RegExp(`^${target}[ \\t]*::?(?!=)`, "m").test(targets);
  const tests = ["test", "check"].find(hasTarget);
  const isGo = /^module /m.test(read("go.mod"));
  const isRust = /^\[(?:package|workspace)\]/m.test(read("Cargo.toml"));
  const python = ["pytest.ini", "pyproject.toml", "setup.py"].find((name) => read(name).trim() !== "");
  const runner = has("uv.lock") ? "uv run " : has("poetry.lock") ? "poetry run " : "";
  const configured = (tool: string, ...files: readonly string[]): string | undefined =>
    new RegExp(`^\\[tool\\.${tool}[\\].]`, "m").test(read("pyproject.toml"))
      ? "pyproject.toml"
      : files.find(has);
  const gate = (name: string, command: string, because: string | false | undefined): readonly FoundGate[] =>
    because ? [{ name, command, because }] : [];
  return [
    ...gate("tests", `make ${tests}`, tests && makefile),
    ...gate("lint", "make lint", hasTarget("lint") && makefile),
    ...gate("tests", "go test ./...", isGo && "go.mod"),
    ...gate("vet", "go vet ./...", isGo && "go.mod"),
    ...gate("tests", "cargo test", isRust && "Cargo.toml"),
    // Clippy comes with Rust or not; without it cargo fails.
    ...gate("clippy", "cargo clippy --all-targets", isRust && hasProgram("cargo-clippy") && "Cargo.toml"),
    ...gate("tests", runner === "" ? "python3 -m pytest" : `${runner}pytest`, python),
    ...gate("lint", `${runner}ruff check .`, python && configured("ruff", "ruff.toml", ".ruff.toml")),
    ...gate("types", `${runner}mypy .`, python && configured("mypy", "mypy.ini", ".mypy.ini")),
  ];
}

const LOCKS: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

/** Scripts by the name that their gate gets; of several the first that is there. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  tests: ["test"],
  lint: ["lint"],
  types: ["typecheck", "type-check", "types", "check-types", "check:types", "tsc"],
};

/** The scripts of `package.json`, called by the package manager that the project uses; or why it cannot be read. */
function nodeGates(read: ReadFile, has: Ask): FoundGates {
  const text = read("package.json").replace(/^\uFEFF/, "");
  try {
    if (text !== "") parseJsonTree(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = text.slice(0, error.offset).split("\n").length;
    return { found: [], problem: `package.json:${line} cannot be read: this is not JSON, ${error.message}` };
  }
  const { scripts, packageManager } = fieldsOf(parsedJson(text));
  const named = /^(npm|pnpm|yarn|bun)@/.exec(String(packageManager))?.[1];
  const manager = named ?? LOCKS[Object.keys(LOCKS).find(has) ?? ""] ?? "npm";
  const found = Object.entries(SCRIPTS).flatMap(([name, names]) => {
    const script = names.find((one) => isCheck(fieldsOf(scripts)[one]));
    if (script === undefined) return [];
    // `bun test` is another program than the script.
    const run = script === "test" && manager !== "bun" ? script : `run ${script}`;
    return [{ name, command: `${manager} ${run}`, because: "package.json" }];
  });
  return { found, problem: null };
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
  const { style, say, json } = context;
  const write = (text: string): void => void (json || context.stdout.write(text));
  const workspace = workspaceOf(project);
  const before = await workspace.dirtyPaths([]);
  const tried: TriedGate[] = [];
  for (const gate of found) {
    write(`tried  ${gate.command.padEnd(24)} `);
    const gates = resolveGates([], [], [gate.command]).map((each) => ({ ...each, timeoutMs: TIMEOUT_MS }));
    const [result] = (await checkNow(project, { gates, plugins: NO_PLUGINS })) ?? [];
    if (result === undefined) return null;
    const said = inWords(result);
    write(`${said}\n`);
    const output = result.status === "passed" || result.tries === 0 ? "" : result.tail;
    if (!json) context.print(tailLines(output, style, OUTPUT_LINES));
    if (result.status !== "missing") tried.push({ ...gate, said });
  }
  const left = (await workspace.dirtyPaths([])).filter((path) => !before.includes(path));
  if (left.length > 0)
    say(
      `the checks wrote files that git does not ignore: ${few(left)}\n  → commit them, delete them, or add them to .gitignore, before you run ralph`,
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
