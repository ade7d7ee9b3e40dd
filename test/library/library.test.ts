import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { definePlugin, openProject, RalphError, runLoop, type ProjectEvent } from "../../src/index.ts";
import { createProject, TOLD_TO_GO, WORKS, type Project, type ProjectOptions } from "../e2e/project.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const projects: Project[] = [];

afterEach(() => {
  for (const project of projects.splice(0)) project.dispose();
});

function started(options: ProjectOptions = {}): {
  project: Project;
  at: { cwd: string; env: NodeJS.ProcessEnv };
} {
  const project = createProject(options);
  projects.push(project);
  return { project, at: { cwd: project.root, env: { ...project.env } } };
}

test("importing it prints nothing, listens to nothing and loads little", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const library = await import(${JSON.stringify(join(ROOT, "dist", "index.js"))});
    const heard = ["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "exit"];
    console.log(JSON.stringify({
      names: Object.keys(library).toSorted(),
      listeners: heard.flatMap((name) => process.listeners(name)).length,
      files: loaded.filter((url) => url.startsWith("file:")).length,
    }));`;
  const node = join(ROOT, "node_modules", ".bin", "node");
  const { stdout, stderr } = spawnSync(node, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  const [line = "", ...more] = stdout.trim().split("\n");
  expect(more).toEqual([]);
  const { names, listeners, files } = JSON.parse(line) as {
    names: string[];
    listeners: number;
    files: number;
  };
  expect(names).toEqual(["RalphError", "definePlugin", "openProject", "runLoop"]);
  expect(listeners).toBe(0);
  expect(files).toBeLessThan(10);
});

describe("runLoop", () => {
  test("answers how it went, and tells every event in order", async () => {
    const { at } = started({ tasks: ["one", "two"] });
    const events: ProjectEvent[] = [];
    const result = await runLoop({
      ...at,
      checks: ["test -e one.txt"],
      onEvent: (event) => void events.push(event),
    });
    expect(result).toMatchObject({
      success: true,
      outcome: "completed",
      exitCode: 0,
      iterations: 2,
      promise: "COMPLETE",
      error: null,
    });
    expect(result.finalOutput).toContain("<promise>COMPLETE</promise>");
    expect(result.durationMs).toBeGreaterThan(0);
    expect(events[0]).toMatchObject({ type: "run.started", run: result.run });
    expect(events.at(-1)).toMatchObject({ type: "run.ended", outcome: "completed" });
    const positions = events.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test("works on a goal, and says when it was not reached", async () => {
    const { project, at } = started();
    project.script({}, [[{ crash: 3 }]]);
    const result = await runLoop({ ...at, goal: "make it fast", maxIterations: 1 });
    expect(result).toMatchObject({ success: false, outcome: "exhausted", exitCode: 1, promise: null });
    expect(result.error).toMatchObject({ class: "agent" });
  });

  test("rejects with the error of the command line when it cannot start", async () => {
    const { project, at } = started();
    await expect(runLoop({ ...at, agent: "nobody" })).rejects.toMatchObject({ code: "no-agent" });
    await expect(runLoop({ ...at, maxIterations: 0 })).rejects.toBeInstanceOf(RalphError);
    project.write("left.txt", "over");
    await expect(runLoop(at)).rejects.toMatchObject({ code: "dirty-tree" });
    expect((await runLoop({ ...at, allowDirty: true })).success).toBe(true);
  });

  test("is stopped by its signal, and the iteration is recorded", async () => {
    const { project, at } = started();
    project.script({}, [[TOLD_TO_GO, ...WORKS]]);
    const stop = new AbortController();
    const result = await runLoop({
      ...at,
      signal: stop.signal,
      onEvent: ({ type }) => void (type === "iteration.started" && stop.abort()),
    });
    expect(result).toMatchObject({ success: false, outcome: "stopped", exitCode: 130 });
    const history = await (await openProject(at)).history();
    expect(history).toMatchObject([{ iteration: 1, verdict: "failed" }]);
    expect(project.leftovers()).toEqual([]);
  });

  test("has plugins of the program that calls it, and names one that is broken", async () => {
    const { at } = started();
    const fussy = definePlugin({
      apiVersion: 1,
      name: "fussy",
      guards: { twice: { check: ({ iteration }) => (iteration < 2 ? ["once is not enough"] : []) } },
    });
    expect(await runLoop({ ...at, plugins: [fussy] })).toMatchObject({ success: true, iterations: 2 });
    const broken = { ...fussy, apiVersion: 2 } as unknown as typeof fussy;
    await expect(runLoop({ ...at, plugins: [broken] })).rejects.toThrow("was written for version 2");
  });

  test("ends when whoever listens throws", async () => {
    const { at } = started();
    const listening = runLoop({
      ...at,
      onEvent: ({ type }) => {
        if (type === "iteration.ended") throw new Error("the listener broke");
      },
    });
    await expect(listening).rejects.toThrow("the listener broke");
    expect((await runLoop(at)).success).toBe(true);
  });
});

describe("openProject", () => {
  test("reads what is there, and creates nothing", async () => {
    const { at } = started();
    const project = await openProject(at);
    expect(await project.status()).toMatchObject({ schema: "ralph.status.v1", run: null, tasks: [] });
    expect(await project.history()).toEqual([]);
    for await (const event of project.events({ follow: false })) expect(event).toBeUndefined();
    await runLoop(at);
    expect(await project.status()).toMatchObject({
      run: { outcome: "completed" },
      tasks: [{ status: "done" }],
    });
    expect(await project.history({ task: "one" })).toMatchObject([{ verdict: "accepted", task: "one" }]);
    expect(await project.history({ task: "two" })).toEqual([]);
  });

  test("follows a run while it happens", async () => {
    const { at } = started();
    const project = await openProject(at);
    const running = runLoop(at);
    const seen: string[] = [];
    for await (const { type } of project.events()) {
      seen.push(type);
      if (type === "run.ended") break;
    }
    expect((await running).success).toBe(true);
    expect(seen).toContain("verdict.reached");
    const after = (await runLoop({ ...at, goal: "more" })).run;
    const later = [];
    for await (const event of project.events({ after: seen.length, follow: false })) later.push(event);
    expect(later[0]).toMatchObject({ type: "run.started", run: after });
  });

  test("answers, unblocks and steers as a person would by command", async () => {
    const { project: place, at } = started();
    const iterations = [[{ decide: "Red or blue?" }], [{ blocked: "no paint" }], WORKS];
    place.write(".ralph/script.json", JSON.stringify({ iterations }));
    const project = await openProject(at);
    await expect(project.decide("one", "red")).rejects.toThrow("one asks no question");
    expect((await runLoop(at)).outcome).toBe("undecided");
    await project.decide("one", "red");
    expect((await runLoop(at)).outcome).toBe("blocked");
    await project.unblock("one", { reason: "paint is here", timeoutMs: 60_000 });
    await project.steer("one", "use the big brush");
    expect(await project.status()).toMatchObject({ messages: [{ text: "use the big brush" }] });
    expect((await runLoop(at)).outcome).toBe("completed");
    const history = await project.history();
    expect(history.at(-1)).toMatchObject({ timeout_seconds: 60, verdict: "accepted" });
    await expect(project.stop()).rejects.toThrow("no run is under way");
  });

  test("says clearly that a folder is in no repository", async () => {
    await expect(openProject({ cwd: "/" })).rejects.toMatchObject({ code: "no-repository" });
  });
});
