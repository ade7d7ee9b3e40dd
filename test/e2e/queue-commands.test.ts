import { openLog } from "../../src/app/project-log.ts";
import { openProject } from "../../src/app/project.ts";
import { projectKeyOf } from "../../src/app/shared-log.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Overview } from "../../src/core/views/overview.ts";
import { ask } from "../support/postgres.ts";
import { openPage } from "../web/web-client.ts";
import { until } from "./project.ts";
import { createTeam, type Machine, type Team } from "./team.ts";

const PASSWORD = "correct-horse-battery";

let team: Team;
let here: Machine;
let key: string;

/** What one machine did alone is put into the shared log, as if workers had done it. */
beforeAll(async () => {
  team = await createTeam({
    tasks: ["one", "two", "three"],
    script: {
      two: [[{ promise: "DECIDE:which colour?" }]],
      three: [[{ promise: "BLOCKED:no network" }]],
    },
  });
  const alone = team.machine("alone", { env: { RALPH_QUEUE_URL: "" } });
  await alone.ralph("run", "--keep-going");
  const local = await openLog(await openProject({ cwd: alone.root, env: alone.env }));
  const events = await local.read(0);
  await local.close();
  here = team.machine("here");
  const shared = await openLog(await openProject({ cwd: here.root, env: here.env }));
  await shared.append(
    events.map(({ position: _position, at: _at, ...event }) =>
      event.type === "iteration.started" ? { ...event, worker: "build-3" } : event,
    ),
  );
  await shared.close();
  key = await projectKeyOf(here.root);
}, 120_000);

afterAll(() => team.dispose());

/** A worker's row, as it would write it. */
async function workerIs(is: string, seenSecondsAgo = 0): Promise<void> {
  const progress = JSON.stringify([{ iteration: 9, task: "two", elapsed_seconds: 5, timeout_seconds: 900 }]);
  await ask(
    team.url,
    `INSERT INTO ralph.workers VALUES ('${key}', 'build-3', 'host-3', 4711, '0.1.0', '{os:linux}', 2,
       clock_timestamp() - interval '1 hour', clock_timestamp() - interval '${seenSecondsAgo} s', '${is}', '${progress}')
     ON CONFLICT (project, id) DO UPDATE SET "is" = excluded."is", seen_at = excluded.seen_at`,
  );
}

describe("commands that look", () => {
  test.each<[readonly string[], RegExp]>([
    [["status"], /two waits for you/],
    [["history"], /1\/30\)  build-3/],
    [["why", "1"], /by demo on build-3/],
    [["tasks"], /three/],
    [["why"], /run/],
    [["why", "three"], /no network/],
    [["report"], /one/],
    [["inbox"], /which colour\?/],
    [["blocked"], /no network/],
    [["interventions"], /./],
    [["lessons"], /./],
    [["profile"], /./],
    [["metrics"], /./],
    [["promises"], /./],
    [["steer"], /./],
    [["replay", "last"], /one/],
    [["history", "--jsonl"], /"run.started"/],
    [["worktrees"], /No worktrees/],
  ])("ralph %j answers from the database, in any clone", async (words, answer) => {
    const { code, stdout } = await here.ralph(...words);
    expect(stdout).toMatch(answer);
    expect(code).toBe(0);
  });

  test("none of them makes a log here", async () => {
    await here.ralph("status");
    expect(existsSync(join(here.root, ".git", "ralph", "state.db"))).toBe(false);
  });
});

describe("workers", () => {
  test("nobody is there: the run stands still, and nothing can be stopped", async () => {
    const status = await here.ralph("status");
    expect(status.stdout).toContain("No worker is here. Start one: ralph worker");
    expect(await here.ralph("stop")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("no worker is here") as string,
    });
    const json = JSON.parse((await here.ralph("status", "--json")).stdout) as object;
    expect(json).toMatchObject({ workers: [] });
  });

  test("one is there, and then it is not heard of any more", async () => {
    await workerIs("here", -600);
    const status = await here.ralph("status");
    expect(status.stdout).toMatch(/build-3 +host-3 +2 lanes +waits for tasks/);
    await workerIs("here", 65);
    expect((await here.ralph("status")).stdout).toMatch(
      /build-3 +host-3 +2 lanes +vanished: not heard of for 1m \d+s/,
    );
    const { workers } = JSON.parse((await here.ralph("status", "--json")).stdout) as { workers: object[] };
    expect(workers).toMatchObject([{ id: "build-3", host: "host-3", lanes: 2, is: "vanished", holds: [] }]);
  });

  test("what would be gone under their hands waits until they left", async () => {
    await workerIs("here", -600);
    for (const words of [["archive"], ["reset", "--all", "--yes"]])
      expect(await here.ralph(...words)).toMatchObject({
        code: 64,
        stderr: expect.stringContaining("build-3 on host-3") as string,
      });
    await workerIs("gone");
  });
});

describe("what lies on another machine", () => {
  test("is said to lie there", async () => {
    expect(await here.ralph("logs", "1")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("the transcript of iteration 1 lies on worker build-3") as string,
    });
  });
});

describe("the page", () => {
  test("shows the shared log, its workers, and what others do, as it happens", async () => {
    await workerIs("here", -600);
    const page = await openPage(here.root, { env: here.env });
    try {
      const seen = await page.json<Overview>("/api/overview");
      expect(seen).toMatchObject({
        isDriven: true,
        workers: [{ id: "build-3", host: "host-3", lanes: 2, is: "here" }],
        progress: [{ iteration: 9, task: "two", elapsedSeconds: 5 }],
      });
      expect(await page.json("/api/iterations/1")).toMatchObject({
        row: { worker: "build-3" },
        textsAre: "elsewhere",
        transcriptBytes: null,
      });
      const position = async (): Promise<number> => (await page.json<Overview>("/api/overview")).position;
      const before = await position();
      await here.ralph("steer", "two", "from the command line");
      await until("the page knows it", async () => (await position()) > before);
      expect((await page.act({ do: "steer", task: null, text: "from the page" })).status).toBe(200);
      expect((await here.ralph("steer")).stdout).toContain("from the page");
    } finally {
      await page.stop();
      await workerIs("gone");
    }
  });
});

describe("commands that act", () => {
  test("an answer, a message and an unblocking are heard by all", async () => {
    const decided = await here.ralph("decide", "two", "blue");
    expect(decided.stderr).toContain("ralph submit");
    expect(await here.ralph("steer", "use the v2 API")).toMatchObject({ code: 0 });
    expect(await here.ralph("unblock", "three", "--reason", "it is back")).toMatchObject({ code: 0 });
    const types = (await team.events()).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(["question.answered", "steer.given", "task.unblocked"]) as string[],
    );
    expect((await here.ralph("inbox")).stdout).not.toContain("which colour?");
    expect(existsSync(join(here.root, ".ralph", "status.json"))).toBe(false);
  });

  test("a run of this machine alone is refused, unless the queue is turned off", async () => {
    for (const words of [["run"], ["run", "--task", "one"]])
      expect(await here.ralph(...words)).toMatchObject({
        code: 64,
        stderr: expect.stringContaining("RALPH_QUEUE_URL= ralph run") as string,
      });
    const off = team.machine("off", { env: { RALPH_QUEUE_URL: "" } });
    expect((await off.ralph("status")).stdout).toContain("No run yet");
  });

  test("undo says that it does not reach the remote's base", async () => {
    expect(await here.ralph("undo")).toMatchObject({
      code: 64,
      stderr: expect.stringContaining("git revert") as string,
    });
  });
});

describe("the address", () => {
  test("that nobody answers at is a sentence, without its password", async () => {
    const url = `postgres://ralph:${PASSWORD}@127.0.0.1:1/ralph`;
    const lost = team.machine("lost", { url });
    const { code, stderr } = await lost.ralph("status");
    expect(code).toBe(5);
    expect(stderr).toContain("127.0.0.1:1/ralph cannot be reached");
    expect(stderr).not.toContain(PASSWORD);
    const config = await lost.ralph("config");
    expect(config.stdout).toContain("postgres://ralph:[redacted]@127.0.0.1:1/ralph");
    expect(config.stdout).not.toContain(PASSWORD);
  });

  test("of something else is refused and not repeated", async () => {
    const odd = team.machine("odd", { url: `mysql://ralph:${PASSWORD}@db/ralph` });
    const { code, stderr } = await odd.ralph("status");
    expect(code).toBe(64);
    expect(stderr).toContain("RALPH_QUEUE_URL");
    expect(stderr).not.toContain(PASSWORD);
  });

  test("doctor says who is at work", async () => {
    expect((await here.ralph("doctor")).stdout).toMatch(
      /queue: the database \S+ answers, 0 workers are here/,
    );
  });
});
