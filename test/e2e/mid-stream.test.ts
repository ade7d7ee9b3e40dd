import { afterEach, describe, expect, test } from "vitest";
import { createProject, jsonLines, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const CONFIG = `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[interventions]
mid_stream = true
`;

describe("an agent that writes nothing for half of its time", () => {
  test("is told while it runs, and comes to its senses", async () => {
    project = createProject({ config: CONFIG });
    project.script({ one: [[{ awaitMessage: 30_000 }, ...WORKS]] });
    project.commit();
    const run = await project.ralph("run", "--json", "--timeout", "10s");
    expect(run.code).toBe(0);
    const events = jsonLines(run.stdout);
    expect(events.find((event) => event["type"] === "halftime.passed")).toMatchObject({ wrote_files: false });
    expect(events.filter((event) => event["type"] === "intervention.chosen")).toMatchObject([
      { intervention: "mid_stream_prompt_injected", is_fed_back: false },
    ]);
    expect(project.read(".ralph/logs/iteration-001.log")).toContain("I was told: You have worked for");
  });

  test("is left alone when it has written something", async () => {
    project = createProject({ config: CONFIG });
    project.script({ one: [[...WORKS.slice(0, 1), { awaitMessage: 6_000 }, ...WORKS.slice(1)]] });
    project.commit();
    const run = await project.ralph("run", "--json", "--timeout", "10s");
    expect(run.code).toBe(0);
    const events = jsonLines(run.stdout);
    expect(events.find((event) => event["type"] === "halftime.passed")).toMatchObject({ wrote_files: true });
    expect(events.filter((event) => event["type"] === "intervention.chosen")).toEqual([]);
  });
});
