import { afterAll, beforeAll, describe, test } from "vitest";
import { installPrograms } from "./install-programs.ts";
import { behindList, inSandbox, type Journey, JOURNEYS, travel } from "./journeys.ts";
import { allRuns, coreRuns, type Surroundings } from "./matrix.ts";
import { nameModel, type NamedModel } from "./model-server/name-model.ts";
import { startModelServer, type ModelServer } from "./model-server/start-model-server.ts";

const PATIENCE_MS = 300_000;
const runs = process.env["REAL_AGENTS"] === "all" ? allRuns() : coreRuns();

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

const SURROUNDINGS: Readonly<Record<Surroundings, (journey: Journey) => [Journey, ModelServer]>> = {
  plain: (journey) => [journey, server],
  "in a sandbox": (journey) => [inSandbox(journey), server],
  "with its model's host in a list": (journey) => [behindList(journey, named), named.server],
};

const groups = Map.groupBy(runs, ({ way, where }) => (where === "plain" ? way : `${way}, ${where}`));

describe.concurrent.each([...groups])("%s", (_, group) => {
  test.for(group.map((run) => [run.journey, run] as const))(
    "%s",
    { timeout: PATIENCE_MS },
    ([name, { way, where }]) => {
      const [journey, model] = SURROUNDINGS[where](JOURNEYS[name]);
      return travel(model, journey, way);
    },
  );
});
