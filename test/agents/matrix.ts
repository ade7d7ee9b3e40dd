import type { AgentProgram } from "./agent-settings.ts";
import type { JOURNEYS } from "./journeys.ts";

/** A program by its own command line, or as a server of the Agent Client Protocol. */
export type Way = AgentProgram | `acp:${AgentProgram}`;
export type JourneyName = keyof typeof JOURNEYS;

const PROGRAMS: readonly AgentProgram[] = ["claude", "codex", "gemini", "opencode", "copilot"];
const BY_PROTOCOL = PROGRAMS.map((program): Way => `acp:${program}`);
export const WAYS: readonly Way[] = [...PROGRAMS, ...BY_PROTOCOL];

export function partsOf(way: Way): { readonly agent: AgentProgram; readonly isAcp: boolean } {
  return { agent: way.replace("acp:", "") as AgentProgram, isAcp: way.startsWith("acp:") };
}

/** What a program may be able to do. */
interface Capability {
  /** As its page says it. */
  readonly says: string;
  /** Made with every program that is not listed below. */
  readonly journey: JourneyName;
  /** Why not. */
  readonly cannot?: Partial<Record<Way, string>>;
}

const DONE = "does a task, and what it used is recorded";
const NO_COST = "it reports only tokens; set [prices](../guide/brakes.md#calls-money-time)";
const SUMMED_UP = "it reports usage only when its turn ends; then Ralph starts no other iteration";
const ENDS = "a second message cancels the turn";
const STARTED = "its command line takes no messages once it runs";
const NO_HOOKS = "only Claude Code takes hooks without a change of its settings";
const except = (reason: string, ...ways: readonly Way[]): Partial<Record<Way, string>> =>
  Object.fromEntries(ways.map((way) => [way, reason]));

/** The table of docs/reference/agents.md. A cell is proven by a journey, or has a reason. */
export const CAPABILITIES = {
  works: { says: "Ralph reads its words, tool calls, session and tokens", journey: DONE },
  cost: {
    says: "Ralph reads its cost",
    journey: DONE,
    cannot: except(NO_COST, "codex", "gemini", "copilot", "acp:codex", "acp:gemini", "acp:copilot"),
  },
  files: { says: "Ralph reads which files it wrote", journey: DONE },
  progress: {
    says: "`ralph status` shows its tool calls while it works",
    journey: "is stopped while a tool hangs, with all that it started",
    cannot: except("it reports a tool only when the tool has ended", "opencode"),
  },
  stop: {
    says: "Ralph ends it and every process that it started",
    journey: "is stopped while a tool hangs, with all that it started",
  },
  limit: {
    says: "Ralph tells a usage limit from a failed task",
    journey: "comes to its usage limit, which is no fault of the task",
    cannot: except("for some errors it reports only that its turn has ended", "acp:copilot"),
  },
  cutOff: {
    says: "If its answer is cut off at the output limit, the next prompt asks for less",
    journey: "is cut off at the limit of an answer, and told to do less at a time",
    cannot: except(
      "it reports that its turn ended normally",
      "gemini",
      "copilot",
      "acp:gemini",
      "acp:opencode",
      "acp:copilot",
    ),
  },
  budget: {
    says: "It stops in the middle of an iteration when a budget is spent",
    journey: "passes what is left of a budget, and is stopped",
    cannot: except(SUMMED_UP, "codex", "gemini", "copilot", ...BY_PROTOCOL),
  },
  session: {
    says: 'It resumes its session (`session = "resume"`)',
    journey: "goes on with its session where that is asked for",
    cannot: except("it loses a session that is resumed within a minute of its start", "acp:gemini"),
  },
  tools: {
    says: "It reports through Ralph's tools",
    journey: "claims through our tools, and is checked as ever",
    cannot: {
      gemini: "it takes MCP servers only from settings files, which Ralph does not write",
      "acp:copilot": "it ignores the tools that it is given",
    },
  },
  messages: {
    says: "`ralph steer` reaches it while it works",
    journey: "hears the operator while it works",
    cannot: {
      ...except(STARTED, "codex", "opencode"),
      ...except("it takes no messages once it runs", "gemini", "copilot"),
      ...except(ENDS, "acp:gemini", "acp:copilot"),
    },
  },
  hooks: {
    says: "Ralph sends it back when it stops too early",
    journey: "may not stop before it has committed",
    cannot: except(NO_HOOKS, ...WAYS.filter((way) => way !== "claude")),
  },
  denied: {
    says: "It reports denied tools",
    journey: "is told apart when it may not do what it wants",
    cannot: {
      gemini: "it does not offer the model tools that need a permission",
      "acp:codex": "it does not ask; its own sandbox decides",
    },
  },
  setUp: {
    says: "Your settings, MCP servers, hooks and instructions stay in effect and unchanged",
    journey: "works with the set-up of its operator, and leaves it as it was",
  },
  server: {
    says: "The iteration ends although a server still runs in the background",
    journey: "leaves a server in the background, and is done all the same",
    cannot: except("its turn lasts as long as the server, until the timeout", "acp:copilot"),
  },
} as const satisfies Record<string, Capability>;

export type CapabilityName = keyof typeof CAPABILITIES;

/** Why a program cannot; null when a journey shows that it can. */
export function whyNot(name: CapabilityName, way: Way): string | null {
  const { cannot = {} }: Capability = CAPABILITIES[name];
  return cannot[way] ?? null;
}

export type Surroundings = "plain" | "in a sandbox" | "with its model's host in a list";

interface Run {
  readonly way: Way;
  readonly journey: JourneyName;
  readonly where: Surroundings;
}

type Rows = Partial<Record<JourneyName, readonly Way[]>>;

/** Journeys that are about us more than about what a program can do. */
const MORE: Rows = {
  "lies, is not believed, and then does it": ["claude", "gemini", "acp:opencode"],
  "has no credit left, and says how to get some": [...PROGRAMS, "acp:claude", "acp:codex"],
  "asks for a model that its service does not know": [...PROGRAMS, "acp:claude", "acp:codex", "acp:gemini"],
  "overflows its context, and begins anew": PROGRAMS,
  "ends without a word": ["claude", "codex", "gemini", "copilot"],
  "spells a secret piece by piece, and the transcript has none of it": [
    "gemini",
    "copilot",
    "acp:claude",
    "acp:gemini",
  ],
  "reads five megabytes, and does its task": ["codex", "acp:gemini"],
  "gets over a service that is overloaded": [...PROGRAMS, "acp:claude", "acp:codex"],
  "is killed in the middle of its work, which is no claim": [...PROGRAMS, "acp:claude", "acp:codex"],
  // A dozen iterations each: by the protocol only those that start quickly.
  "does a list of tasks with a model that is full of surprises": [...PROGRAMS, "acp:claude", "acp:codex"],
  "is ended at its timeout, and says before what it used": ["claude"],
  "goes on with its session a minute later": ["acp:gemini"],
  "begins a fresh session otherwise": ["codex", "opencode", "copilot"],
  "asks a person through our tools": ["claude", "codex", "opencode", "copilot"],
  "takes a story through its review, and may not stop without a decision": ["claude"],
  "is read by a second reader, who agrees": ["claude"],
  "is read by a second reader, whose reason is in the next prompt": ["codex"],
  "is read by a second reader, who cannot change anything": ["claude", "codex"],
  "has no second reader when nobody can read the answer": ["claude"],
  "has no second reader while that one is limited": ["codex"],
};

const TOOLS = "claims through our tools, and is checked as ever";
const HANGS = "is stopped while a tool hangs, with all that it started";
const RESUMES = "goes on with its session where that is asked for";
const HEARS = "hears the operator while it works";
const READS = "is read by a second reader, whose reason is in the next prompt";

const SANDBOXED: Rows = {
  [DONE]: ["gemini"],
  [TOOLS]: ["claude", "codex", "opencode", "copilot"],
  [HANGS]: PROGRAMS,
  [RESUMES]: PROGRAMS,
  [HEARS]: ["claude"],
  "may not stop before it has committed": ["claude"],
  "is read by a second reader, who cannot change anything": ["claude", "codex"],
};

const LISTED: Rows = { [DONE]: PROGRAMS, [TOOLS]: ["claude", "codex"] };

/** Every program once, and every journey with a program that is quick at it. */
const CORE: Readonly<Record<Surroundings, Rows>> = {
  plain: {
    [DONE]: ["codex", "gemini", "opencode", "copilot", "acp:gemini"],
    [HANGS]: ["claude"],
    [TOOLS]: ["claude"],
    "may not stop before it has committed": ["claude"],
    [RESUMES]: ["codex"],
    [HEARS]: ["acp:claude"],
    [READS]: ["codex"],
  },
  "in a sandbox": { [TOOLS]: ["claude"], [RESUMES]: ["codex"] },
  "with its model's host in a list": { [DONE]: ["codex"] },
};

export function allRuns(): readonly Run[] {
  const proofs = (Object.keys(CAPABILITIES) as CapabilityName[]).flatMap((name) =>
    WAYS.filter((way) => whyNot(name, way) === null).map((way): Run => ({
      way,
      journey: CAPABILITIES[name].journey,
      where: "plain",
    })),
  );
  const runs = [
    ...proofs,
    ...runsOf(MORE, "plain"),
    ...runsOf(SANDBOXED, "in a sandbox"),
    ...runsOf(LISTED, "with its model's host in a list"),
  ];
  return [...new Map(runs.map((run) => [JSON.stringify(run), run])).values()];
}

export function coreRuns(): readonly Run[] {
  const places = Object.keys(CORE) as Surroundings[];
  return places.flatMap((where) => runsOf(CORE[where], where));
}

function runsOf(rows: Rows, where: Surroundings): readonly Run[] {
  return (Object.keys(rows) as JourneyName[]).flatMap((journey) =>
    (rows[journey] ?? []).map((way): Run => ({ way, journey, where })),
  );
}

/** What each program can do, as Markdown: where it can, and the number of the reason where it cannot. */
export function capabilityTable(): string {
  const names = Object.keys(CAPABILITIES) as CapabilityName[];
  const reasons = [...new Set(names.flatMap((name) => WAYS.map((way) => whyNot(name, way))))].filter(
    (reason) => reason !== null,
  );
  const cell = (name: CapabilityName, program: AgentProgram): string => {
    const missing = [whyNot(name, program), whyNot(name, `acp:${program}`)];
    const numbers = [...new Set(missing)].filter((reason) => reason !== null);
    const notes = numbers.map((reason) => reasons.indexOf(reason) + 1).join(", ");
    if (notes === "") return "yes";
    return `${missing[0] === null ? "CLI only" : missing[1] === null ? "ACP only" : "no"} (${notes})`;
  };
  const table = [
    ["", ...PROGRAMS],
    ["---", ...PROGRAMS.map(() => "---")],
    ...names.map((name) => [CAPABILITIES[name].says, ...PROGRAMS.map((program) => cell(name, program))]),
  ].map((cells) => `| ${cells.join(" | ")} |`);
  const notes = reasons.map((reason, at) => `${at + 1}. ${reason[0]?.toUpperCase()}${reason.slice(1)}.`);
  return [table.join("\n"), notes.join("\n")].join("\n\n");
}
