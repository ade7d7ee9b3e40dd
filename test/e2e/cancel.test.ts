import { afterEach, describe, expect, test } from "vitest";
import { createProject, until, WORKS, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const STUBBORN: Steps = [{ ignoreTerm: true }, { hang: true }];

const isUnderWay = async (): Promise<boolean> =>
  (await project.ralph("ralph-status")).stdout.includes("iteration 1/");

describe("ralph cancel", () => {
  test("ends an agent that ignores TERM, and the run goes on with the next task", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [STUBBORN] }, [WORKS]);
    project.commit("script");
    const run = project.start("run");
    await until("an agent works", isUnderWay);
    expect(await project.ralph("ralph-cancel", "one")).toMatchObject({
      code: 0,
      stdout: "Cancelled Ralph loop for one at iteration 1/30\n",
    });
    expect(await run.finished).toMatchObject({ code: 0 });
    expect(project.leftovers()).toEqual([]);
    expect(run.stdout()).toContain("■ cancelled one");
    const { tasks } = JSON.parse((await project.ralph("status", "--json")).stdout) as {
      tasks: { id: string; status: string }[];
    };
    expect(tasks.map(({ id, status }) => `${id} ${status}`)).toEqual(["one cancelled", "two done"]);
  });

  test("--all ends the run, and the next one takes the task up again", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [STUBBORN] });
    project.commit("script");
    const run = project.start("run");
    await until("an agent works", isUnderWay);
    expect(await project.ralph("cancel", "--all")).toMatchObject({ code: 0 });
    expect(await run.finished).toMatchObject({ code: 130 });
    project.script({ one: [WORKS] });
    project.commit("better");
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("of the only task ends the run with 130", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [[{ hang: true }]] });
    project.commit("script");
    const run = project.start("run");
    await until("an agent works", isUnderWay);
    expect(await project.ralph("cancel", "one")).toMatchObject({ code: 0 });
    expect(await run.finished).toMatchObject({ code: 130 });
  });

  test("says what it needs, and what is not there", async () => {
    project = createProject({ tasks: ["one"] });
    expect(await project.ralph("cancel", "one")).toMatchObject({
      code: 0,
      stderr: "ralph: nothing to cancel: no run is under way\n",
    });
    expect(await project.ralph("cancel")).toMatchObject({ code: 64 });
    project.script({ one: [[{ hang: true }]] });
    project.commit("script");
    const run = project.start("run");
    await until("an agent works", isUnderWay);
    const unknown = await project.ralph("cancel", "nobody");
    expect(unknown).toMatchObject({ code: 64 });
    expect(unknown.stderr).toContain('there is no task "nobody"');
    expect(await project.ralph("stop")).toMatchObject({
      code: 0,
      stderr: "ralph: the run stops after the iterations under way\n",
    });
    expect(await project.ralph("stop")).toMatchObject({
      code: 0,
      stderr: "ralph: the run is asked to stop already\n",
    });
    expect((await project.events()).filter(({ type }) => type === "stop.requested")).toHaveLength(1);
    expect((await project.ralph("cancel", "--all")).code).toBe(0);
    await run.finished;
  });
});
