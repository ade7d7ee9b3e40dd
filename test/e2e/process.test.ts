import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, tellToGo, TOLD_TO_GO, until, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => {
  expect(project.leftovers()).toEqual([]);
  project.dispose();
});

const FILE = { shell: "echo x > x.txt" };
const DONE = { promise: "COMPLETE" };

describe("an iteration ends in time, and nothing survives it", () => {
  test.each(["child", "setsid", "stubborn"] as const)("when the agent leaves a %s behind", async (leave) => {
    project = createProject();
    project.script({ one: [[{ leave }, FILE, DONE]] });
    project.commit();
    const startedAt = performance.now();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });

  test("when the agent hangs and ignores TERM", async () => {
    project = createProject();
    project.script({ one: [[{ ignoreTerm: true }, { hang: true }], WORKS] });
    project.commit();
    expect(await project.ralph("run", "--timeout", "5s")).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["failed", "accepted"]);
  });
});

describe("an agent that shows no sign of life", () => {
  const CONFIG = 'agent = "demo"\n[run]\nidle_timeout = "2s"\n[agents.demo]\nscript = ".ralph/script.json"\n';

  test("is ended long before its timeout, and told so", async () => {
    project = createProject({ config: CONFIG });
    project.script({ one: [[{ leave: "setsid" }, { hang: true }], WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const [silent, next] = await project.history();
    expect(silent).toMatchObject({ verdict: "failed", failure_class: "agent", exit_code: null });
    expect(silent?.reasons).toEqual([
      "no sign of life for 2s (no output, no tool call, no change in the work tree, no CPU)",
    ]);
    expect(next).toMatchObject({ verdict: "accepted" });
    expect(project.read(".ralph/logs/iteration-002.prompt.md")).toContain("printed nothing, called no tool");
  });

  test("is let live as long as files change", async () => {
    project = createProject({ config: CONFIG });
    project.script({ one: [[{ sleep: 5_000 }, FILE, DONE]] });
    project.commit();
    const running = project.start("run");
    await until("the agent has begun", () => exists(project, ".ralph/logs/iteration-001.log"));
    let changes = 0;
    const writer = setInterval(() => project.write("slow.txt", String((changes += 1))), 300);
    const { code } = await running.finished.finally(() => clearInterval(writer));
    expect(code).toBe(0);
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["accepted"]);
  });
});

describe("output of any size", () => {
  test.each([
    ["200 MB of lines", { flood: 200_000_000 }, 200_000_000],
    ["one line of 600 MB", { longLine: 600_000_000 }, 600_000_000],
    ["garbage bytes", { garbage: 5_000_000 }, 5_000_000],
  ] as const)("%s: the transcript is complete and memory stays below 120 MB", async (_name, step, bytes) => {
    project = createProject();
    project.script({ one: [[step, FILE, DONE]] });
    project.commit();
    const running = project.start("run");
    let peakKb = 0;
    const watch = setInterval(() => {
      peakKb = Math.max(peakKb, peakMemoryKb(running.child.pid ?? 0));
    }, 50);
    const run = await running.finished;
    clearInterval(watch);
    expect(run).toMatchObject({ code: 0 });
    expect(statSync(join(project.root, ".ralph/logs/iteration-001.log")).size).toBeGreaterThanOrEqual(bytes);
    expect(peakKb).toBeGreaterThan(0);
    expect(peakKb / 1_024).toBeLessThan(120);
  });
});

describe("stopping", () => {
  test("Ctrl-C once: the agent is stopped, the iteration recorded, exit 130", async () => {
    project = createProject();
    project.script({ one: [[{ write: { path: "half.txt", text: "half" } }, { hang: true }]] });
    project.commit();
    const running = project.start("run");
    await until("the agent has begun", () => exists(project, "half.txt"));
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130 });
    expect(await project.history()).toMatchObject([{ iteration: 1, verdict: "failed", files_changed: 1 }]);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("Ctrl-C twice: at once, and the next run picks up the pieces", async () => {
    project = createProject();
    project.script({
      one: [[{ ignoreTerm: true }, { write: { path: "half.txt", text: "half" } }, { hang: true }], WORKS],
    });
    project.commit();
    const running = project.start("run");
    await until("the agent has begun", () => exists(project, "half.txt"));
    running.child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startedAt = performance.now();
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130 });
    // Stopped once, an agent has ten seconds to end.
    expect(performance.now() - startedAt).toBeLessThan(9_500);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["failed", "accepted"]);
  });

  test("ralph stop ends the run after the current iteration", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({}, [[TOLD_TO_GO, ...WORKS]]);
    project.commit();
    const running = project.start("run");
    await until("the first iteration runs", () => running.stdout().includes("iteration 1"));
    expect(await project.ralph("stop")).toMatchObject({ code: 0 });
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 130 });
    expect((await project.history()).map((entry) => entry.verdict)).toEqual(["accepted"]);
  });

  test("ralph stop --now does not wait for it", async () => {
    project = createProject();
    project.script({ one: [[{ hang: true }]] });
    project.commit();
    const running = project.start("run");
    await until("the first iteration runs", () => running.stdout().includes("iteration 1"));
    expect(await project.ralph("stop", "--now")).toMatchObject({ code: 0 });
    expect(await running.finished).toMatchObject({ code: 130 });
  });
});

function peakMemoryKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // it has just ended
  }
}
