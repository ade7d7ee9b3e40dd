import { afterAll, beforeAll, describe, test } from "vitest";
import type { AgentProgram } from "./agent-settings.ts";
import { installPrograms } from "./install-programs.ts";
import { behindList, inSandbox, JOURNEYS, travel } from "./journeys.ts";
import { nameModel, type NamedModel } from "./model-server/name-model.ts";
import { startModelServer, type ModelServer } from "./model-server/start-model-server.ts";

type JourneyName = keyof typeof JOURNEYS;

const DONE = "does a task, and what it used is recorded";
const LIE = "lies, is not believed, and then does it";
const LIMIT = "comes to its usage limit, which is no fault of the task";
const NO_CREDIT = "has no credit left, and says how to get some";
const NO_MODEL = "asks for a model that its service does not know";
const OVERFLOW = "overflows its context, and begins anew";
const OVERLOAD = "gets over a service that is overloaded";
const HANGS = "is ended at its timeout while a tool hangs, with all that it started";
const RESUME = "goes on with its session where that is asked for";
const RESUME_LATER = "goes on with its session a minute later";
const FRESH = "begins a fresh session otherwise";
const TOOLS = "claims through our tools, and is checked as ever";
const ASKS = "asks a person through our tools";
const HOOKS = "may not stop before it has committed";
const STORY = "takes a story through its review, and may not stop without a decision";
const HEARS = "hears the operator while it works";
const READ = "is read by a second reader, who agrees";
const READ_AGAIN = "is read by a second reader, whose reason is in the next prompt";
const READ_ONLY = "is read by a second reader, who cannot change anything";
const UNREADABLE = "has no second reader when nobody can read the answer";
const READER_LIMITED = "has no second reader while that one is limited";
const WITH_READER: readonly JourneyName[] = [READ, READ_AGAIN, READ_ONLY, UNREADABLE, READER_LIMITED];

const EVERY: readonly JourneyName[] = [DONE, LIE, LIMIT, OVERLOAD, HANGS, RESUME, FRESH];
const REFUSED: readonly JourneyName[] = [NO_CREDIT, NO_MODEL, OVERFLOW];
const WITH_TOOLS: readonly JourneyName[] = [...EVERY, TOOLS, ASKS];

interface Matrix {
  readonly byCommandLine: Readonly<Record<AgentProgram, readonly JourneyName[]>>;
  readonly byProtocol: Readonly<Record<AgentProgram, readonly JourneyName[]>>;
  readonly sandboxed: Readonly<Record<AgentProgram, readonly JourneyName[]>>;
  readonly listed: Readonly<Record<AgentProgram, readonly JourneyName[]>>;
}

/** Everything that each program can do. */
const ALL: Matrix = {
  byCommandLine: {
    claude: [...WITH_TOOLS, ...REFUSED, ...WITH_READER, HOOKS, STORY, HEARS],
    codex: [...WITH_TOOLS, ...REFUSED, ...WITH_READER],
    gemini: [...EVERY, ...REFUSED],
    opencode: [...WITH_TOOLS, ...REFUSED],
    copilot: [...WITH_TOOLS, ...REFUSED],
  },
  byProtocol: {
    claude: [DONE, LIE, LIMIT, NO_CREDIT, NO_MODEL, OVERLOAD, HANGS, RESUME, TOOLS, HEARS],
    codex: [DONE, LIE, LIMIT, NO_CREDIT, NO_MODEL, OVERLOAD, HANGS, RESUME, TOOLS, HEARS],
    gemini: [DONE, LIE, LIMIT, NO_MODEL, OVERLOAD, HANGS, RESUME_LATER, TOOLS],
    opencode: [DONE, LIE, LIMIT, OVERLOAD, HANGS, RESUME, TOOLS, HEARS],
    copilot: [DONE, LIE],
  },
  sandboxed: {
    claude: [...WITH_TOOLS, READ_ONLY, HOOKS, STORY, HEARS],
    codex: [...WITH_TOOLS, READ_ONLY],
    gemini: EVERY,
    opencode: WITH_TOOLS,
    copilot: WITH_TOOLS,
  },
  listed: {
    claude: [DONE, HANGS, TOOLS, HEARS],
    codex: [DONE, HANGS, TOOLS],
    gemini: [DONE, HANGS],
    opencode: [DONE, HANGS, TOOLS],
    copilot: [DONE, HANGS, TOOLS],
  },
};

/** Every program once, and every journey with a program that is quick at it. */
const CORE: Matrix = {
  byCommandLine: {
    claude: [HANGS, TOOLS, HOOKS],
    codex: [DONE, RESUME, READ_AGAIN],
    gemini: [DONE],
    opencode: [DONE],
    copilot: [DONE],
  },
  byProtocol: {
    claude: [HEARS],
    codex: [],
    gemini: [DONE],
    opencode: [],
    copilot: [],
  },
  sandboxed: { claude: [TOOLS], codex: [RESUME], gemini: [], opencode: [], copilot: [] },
  listed: { claude: [], codex: [DONE], gemini: [], opencode: [], copilot: [] },
};

const PATIENCE_MS = 300_000;
const { byCommandLine, byProtocol, sandboxed, listed } = process.env["REAL_AGENTS"] === "all" ? ALL : CORE;

let server: ModelServer;
let named: NamedModel;
beforeAll(async () => {
  await installPrograms();
  server = await startModelServer();
  named = await nameModel(server);
}, 600_000);
afterAll(async () => {
  await named.close();
  await server.close();
});

describe.concurrent.each(rowsOf(byCommandLine))("%s", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) => travel(server, JOURNEYS[name], agent));
});

describe.concurrent.each(rowsOf(byProtocol))("%s, by the Agent Client Protocol", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) => travel(server, JOURNEYS[name], agent, true));
});

describe.concurrent.each(rowsOf(sandboxed))("%s, in a sandbox", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) =>
    travel(server, inSandbox(JOURNEYS[name]), agent),
  );
});

describe.concurrent.each(rowsOf(listed))("%s, with its model's host in a list", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) =>
    travel(named.server, behindList(JOURNEYS[name], named), agent),
  );
});

function rowsOf(matrix: Matrix["byProtocol"]): [AgentProgram, readonly JourneyName[]][] {
  const rows = Object.entries(matrix) as [AgentProgram, readonly JourneyName[]][];
  return rows.filter(([, journeys]) => journeys.length > 0);
}
