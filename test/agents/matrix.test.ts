import { afterAll, beforeAll, describe, test } from "vitest";
import type { AgentProgram } from "./agent-settings.ts";
import { installPrograms } from "./install-programs.ts";
import { JOURNEYS, travel } from "./journeys.ts";
import { startModelServer, type ModelServer } from "./model-server/start-model-server.ts";

type JourneyName = keyof typeof JOURNEYS;

const DONE = "does a task, and what it used is recorded";
const LIE = "lies, is not believed, and then does it";
const LIMIT = "comes to its usage limit, which is no fault of the task";
const OVERLOAD = "gets over a service that is overloaded";
const HANGS = "is ended at its timeout while a tool hangs, with all that it started";
const RESUME = "goes on with its session where that is asked for";
const FRESH = "begins a fresh session otherwise";
const TOOLS = "claims through our tools, and is checked as ever";
const ASKS = "asks a person through our tools";
const HEARS = "hears the operator while it works";

const EVERY: readonly JourneyName[] = [DONE, LIE, LIMIT, OVERLOAD, HANGS, RESUME, FRESH];
const WITH_TOOLS: readonly JourneyName[] = [...EVERY, TOOLS, ASKS];

const MATRIX: Readonly<Record<AgentProgram, readonly JourneyName[]>> = {
  claude: [...WITH_TOOLS, HEARS],
  codex: WITH_TOOLS,
  gemini: EVERY,
  opencode: WITH_TOOLS,
  copilot: WITH_TOOLS,
};
const ACP_MATRIX: Readonly<Record<AgentProgram, readonly JourneyName[]>> = {
  claude: [DONE, LIE, LIMIT, OVERLOAD, HANGS, RESUME, TOOLS, HEARS],
  codex: [DONE, LIE, LIMIT, OVERLOAD, HANGS, TOOLS, HEARS],
  gemini: [DONE, LIE, LIMIT, OVERLOAD, HANGS, TOOLS],
  opencode: [DONE, LIE, LIMIT, OVERLOAD, HANGS, HEARS],
  copilot: [DONE, LIE],
};

const PATIENCE_MS = 300_000;

let server: ModelServer;
beforeAll(async () => {
  await installPrograms();
  server = await startModelServer();
}, 600_000);
afterAll(() => server.close());

describe.each(Object.entries(MATRIX))("%s", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) =>
    travel(server, JOURNEYS[name], agent as AgentProgram),
  );
});

describe.each(Object.entries(ACP_MATRIX))("%s, through the Agent Client Protocol", (agent, journeys) => {
  test.for(journeys)("%s", { timeout: PATIENCE_MS }, (name) =>
    travel(server, JOURNEYS[name], agent as AgentProgram, true),
  );
});
