import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Overview } from "../../src/core/views/overview.ts";
import type { RunEntry, Charts } from "../../src/core/views/run-list.ts";
import type { Timeline } from "../../src/core/views/timeline.ts";
import type { EntryHit, EntryPage, TextPage } from "../../src/core/views/overview.ts";
import type { DiffPage, IterationDetail, IterationPage } from "../../src/web/api.ts";
import { createProject, WORKS, type Project, type Steps } from "../e2e/project.ts";
import { openPage, type Page } from "./web-client.ts";

let project: Project;
let page: Page;

const HOSTILE = [
  "<script>alert(1)</script>",
  "\u001b[31mred\u001b[0m \u001b]8;;javascript:alert(2)\u0007click\u001b]8;;\u0007",
  "[link](javascript:alert(3)) <img src=x onerror=alert(4)>",
  "\u001b]0;title\u0007\u001b[2J\u0000\u0008",
  "",
].join("\n");

beforeAll(async () => {
  project = createProject({ tasks: ["one", "two", "three"] });
  const asks: Steps = [{ promise: "DECIDE:which colour?|red|blue" }];
  project.script({ two: [[{ say: "more to do" }], WORKS], three: [asks] }, [WORKS]);
  await project.ralph("run", "--keep-going");
  page = await openPage(project.root);
});

afterAll(async () => {
  await page.stop();
  project.dispose();
});

describe("what a page is told of a real run", () => {
  test("the overview", async () => {
    const overview = await page.json<Overview>("/api/overview");
    expect(overview).toMatchObject({ project: "repository", mayAct: true, isDriven: false });
    expect(overview.status.inbox).toHaveLength(1);
    expect(overview.tail.map(({ text }) => text)).toContain("verdict.reached");
  });

  test("its runs, time line and charts", async () => {
    const [run] = await page.json<readonly RunEntry[]>("/api/runs");
    expect(run).toMatchObject({ outcome: "undecided", iterations: 4, accepted: 2, costUsd: null });
    const latest = await page.json<Timeline>("/api/timeline");
    expect(latest.run).toBe(run?.id);
    expect(latest.spans.filter(({ is }) => is === "agent")).toHaveLength(4);
    expect(await page.json<Timeline>(`/api/timeline?run=${run?.id}`)).toEqual(latest);
    expect((await page.json<Charts>("/api/charts")).duration.x).toEqual([1, 2, 3, 4]);
    for (const path of ["/api/timeline?run=other", "/api/charts?run=other"]) {
      const unknown = await page.get(path);
      expect(unknown.status).toBe(404);
      expect(await unknown.json()).toEqual({ error: { message: 'there is no run "other"', hint: null } });
    }
  });

  test("its iterations, the newest first, by page and by what they are about", async () => {
    const numbers = async (query: string): Promise<readonly [readonly number[], number]> => {
      const { rows, total } = await page.json<IterationPage>(`/api/iterations?${query}`);
      return [rows.map(({ iteration }) => iteration), total];
    };
    expect(await numbers("")).toEqual([[4, 3, 2, 1], 4]);
    expect(await numbers("limit=2")).toEqual([[4, 3], 4]);
    expect(await numbers("limit=2&before=3")).toEqual([[2, 1], 4]);
    expect(await numbers("task=two")).toEqual([[3, 2], 2]);
    expect(await numbers("verdict=accepted")).toEqual([[3, 1], 2]);
    expect(await numbers("verdict=none")).toEqual([[], 0]);
    expect(await numbers("task=two&verdict=accepted&limit=1")).toEqual([[3], 1]);
    expect(await numbers("run=other")).toEqual([[], 0]);
  });

  test("one iteration, with its texts and its change", async () => {
    const detail = await page.json<IterationDetail>("/api/iterations/1");
    expect(detail).toMatchObject({ changedPaths: ["one.txt"], hasPrompt: true, feedback: [] });
    expect(detail.explanation[0]).toMatch(/^Accepted: 1 file changed/);
    expect(detail.commit).toBe(project.git("log", "--format=%H", "-1", "--", "one.txt"));
    const transcript = await page.json<EntryPage>("/api/iterations/1/transcript");
    expect(transcript).toMatchObject({ from: 0, bytes: detail.transcriptBytes, isEnd: true });
    expect(transcript.entries.map(({ title }) => title).join("")).toContain("<promise>COMPLETE</promise>");
    expect((await page.json<TextPage>("/api/iterations/1/prompt")).text).toContain("make one");
    expect(await page.json<DiffPage>("/api/iterations/1/diff")).toEqual({
      files: [{ path: "one.txt", from: null, status: "added", hunks: "@@ -0,0 +1 @@\n+one\n" }],
      more: 0,
    });
    expect(await page.json<DiffPage>("/api/iterations/2/diff")).toEqual({ files: [], more: 0 });
  });
});

test.each([
  ["/api/iterations/abc", 400],
  ["/api/iterations/0", 400],
  ["/api/iterations/99", 404],
  ["/api/iterations/99/transcript", 404],
  ["/api/iterations/99/diff", 404],
  ["/api/iterations/1/search", 400],
  [`/api/iterations/1/search?q=${"x".repeat(201)}`, 400],
  ["/api/iterations/1/transcript?from=x", 400],
  ["/api/iterations/1/transcript?limit=0", 400],
  ["/api/iterations?before=-1", 400],
  ["/api/iterations?limit=many", 400],
  ["/api/iterations?verdict=fine", 400],
  ["/api/iterations/..%2f..%2f..%2fetc%2fpasswd/transcript", 400],
  ["/api/iterations/1%00/transcript", 400],
  ["/api/nothing", 404],
])("%s is answered with a sentence", async (path, status) => {
  const answer = await page.get(path);
  expect(answer.status).toBe(status);
  const { error } = (await answer.json()) as { error: { message: string } };
  expect(error.message).toMatch(/^\S.*[^.]$/);
  expect(error.message).not.toMatch(/\bat \/|node_modules/);
});

describe("a transcript that is out for harm", () => {
  const logs = (name: string): string => join(project.root, ".ralph", "logs", name);

  test("comes as JSON, as text without anything that moves a terminal", async () => {
    writeFileSync(logs("iteration-004.log"), HOSTILE);
    const answer = await page.get("/api/iterations/4/transcript");
    expect(answer.headers.get("content-type")).toBe("application/json");
    const { entries } = (await answer.json()) as EntryPage;
    expect(entries.map(({ title }) => title).join("")).toBe(
      "<script>alert(1)</script>\nred click\n[link](javascript:alert(3)) <img src=x onerror=alert(4)>\n\n",
    );
    const [hit] = await page.json<readonly EntryHit[]>("/api/iterations/4/search?q=ONERROR");
    expect(hit?.line).toBe("[link](javascript:alert(3)) <img src=x onerror=alert(4)>");
  });

  test("is not followed to another file", async () => {
    symlinkSync("/etc/passwd", logs("iteration-077.log"));
    expect((await page.get("/api/iterations/77/transcript")).status).toBe(404);
    expect((await page.get("/api/iterations/77/search?q=root")).status).toBe(404);
  });
});

describe("acts", () => {
  test("that are no acts are refused, with what is wrong", async () => {
    for (const body of [
      "",
      "{",
      "[]",
      "null",
      { do: "erase" },
      { do: "stop", now: true },
      { do: "decide" },
    ]) {
      const answer = await page.act(body);
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as { error: { message: string } }).error.message).toMatch(/^(this|the) /);
    }
  });

  test("that cannot be now are refused with the reason", async () => {
    const reasons = [
      [{ do: "cancel", task: "one" }, "nothing to cancel: no run is under way", "ralph run"],
      [{ do: "stop" }, "nothing to stop: no run is under way", "ralph run"],
      [{ do: "unblock", task: "one", reason: "" }, "one is not blocked: it is done", "ralph why one"],
      [
        { do: "decide", task: "one", answer: "red" },
        "one asks no question",
        "what waits for you: ralph inbox",
      ],
    ] as const;
    for (const [act, message, hint] of reasons) {
      const answer = await page.act(act);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toEqual({ error: { message, hint } });
    }
  });

  test("are not taken by a page that is there to look only", async () => {
    const onlooker = await openPage(project.root, { mayAct: false });
    const answer = await onlooker.act({ do: "decide", task: "three", answer: "red" });
    expect(answer.status).toBe(403);
    expect((await onlooker.json<Overview>("/api/overview")).mayAct).toBe(false);
    await onlooker.stop();
  });

  test("reach the log, and the page", async () => {
    const answer = await page.act({ do: "decide", task: "three", answer: " blue " });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ is: "done", said: "three is answered: blue" });
    expect((await project.events()).at(-1)).toMatchObject({
      type: "question.answered",
      task: "three",
      answer: "blue",
      by: "person",
    });
    expect((await page.json<Overview>("/api/overview")).status.inbox).toEqual([]);
  });
});

test("when everything is forgotten, the page begins anew", async () => {
  await project.ralph("reset", "--all", "--yes");
  expect(await page.json<Overview>("/api/overview")).toMatchObject({ position: 0, hint: "ralph run" });
  expect(await page.json<IterationPage>("/api/iterations")).toEqual({ rows: [], total: 0 });
  project.script({}, [WORKS]);
  await project.ralph("run");
  const tasks = async (): Promise<readonly string[]> =>
    (await page.json<IterationPage>("/api/iterations")).rows.map(({ task }) => task);
  await expect.poll(tasks).toContain("three");
  expect((await page.json<Overview>("/api/overview")).status.run?.outcome).toBe("completed");
});

test("before the first run there is a hint, and nothing else", async () => {
  const fresh = createProject();
  const early = await openPage(fresh.root);
  expect(await early.json<Overview>("/api/overview")).toMatchObject({ position: 0, hint: "ralph run" });
  expect(await early.json("/api/runs")).toEqual([]);
  expect(await early.json("/api/timeline")).toBeNull();
  expect(await early.json("/api/charts")).toBeNull();
  expect(await early.json("/api/iterations")).toEqual({ rows: [], total: 0 });
  expect((await early.get("/api/iterations/1")).status).toBe(404);
  const refused = await early.act({ do: "stop" });
  expect(await refused.json()).toEqual({
    error: { message: "nothing to stop: no run is under way", hint: "ralph run" },
  });
  expect(fresh.git("status", "--porcelain")).toBe("");
  await early.stop();
  fresh.dispose();
});

test("a page that was not built says so", async () => {
  const unbuilt = await openPage(project.root, { ports: { pageFile: async () => null } });
  const answer = await unbuilt.get("/");
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain("the page was not built: index.html is missing");
  await unbuilt.stop();
});
