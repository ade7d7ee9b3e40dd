import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { HistoryEntry } from "./project.ts";
import { createTeam, type Team } from "./team.ts";

let team: Team;
afterEach(() => team.dispose());

const PLUGIN = `
import { existsSync } from "node:fs";
import { join } from "node:path";
export default {
  apiVersion: 1,
  name: "shared",
  guards: { second: { check: ({ iteration }) => (iteration === 1 ? ["once is not enough"] : []) } },
  gates: { there: { check: ({ root }) => ({ passed: existsSync(join(root, "TODO.md")) }) } },
};
`;

test("a worker asks the plugins of its own clone, about submitted tasks too", async () => {
  team = await createTeam({ tasks: ["a"], config: 'plugins = ["../../shared.mjs"]\n' });
  writeFileSync(join(dirname(team.remote), "shared.mjs"), PLUGIN);
  const machine = team.machine("left");
  expect(await machine.ralph("submit")).toMatchObject({ code: 0 });
  expect(await machine.ralph("worker", "--drain")).toMatchObject({ code: 0 });
  const history = JSON.parse((await machine.ralph("history", "--json")).stdout) as HistoryEntry[];
  expect(history).toMatchObject([
    { verdict: "rejected", reasons: ["once is not enough"] },
    { verdict: "accepted", gates: [{ name: "there", status: "passed" }] },
  ]);
});

test("a worker that lacks a plugin of the run accepts nothing: a person has to look", async () => {
  team = await createTeam({ tasks: ["a"], config: 'plugins = ["../../shared.mjs"]\n' });
  writeFileSync(join(dirname(team.remote), "shared.mjs"), PLUGIN);
  const [left, right] = [team.machine("left"), team.machine("right")];
  expect(await left.ralph("submit")).toMatchObject({ code: 0 });
  writeFileSync(
    join(right.root, ".ralph", "ralph.toml"),
    'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n',
  );
  await right.ralph("worker", "--drain");
  const history = JSON.parse((await right.ralph("history", "--json")).stdout) as HistoryEntry[];
  const why = 'the plugin "shared" of this run is not configured on the machine that did the work';
  expect(history).toMatchObject([{ verdict: "blocked", reasons: [why] }]);
});
