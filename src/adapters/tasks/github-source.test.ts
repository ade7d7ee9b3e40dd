import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installFakeGithub, type FakeGithub, type FakeIssue } from "../../../test/fixtures/fake-github.ts";
import type { TaskSource } from "../../engine/ports.ts";
import type { GithubPlace } from "./gh.ts";
import { createGithubSource } from "./github-source.ts";

let folder: string;
let github: FakeGithub;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const USUAL: GithubPlace = { repo: null, label: "ralph", whenDone: "close" };
const ACCEPTED = { run: "run-1", iteration: 7, commit: "3f2a91c", gates: ["tests", "types"] };

/** Looks are never older than what was done before them. */
function sourceWith(issues: readonly Partial<FakeIssue>[], place: Partial<GithubPlace> = {}): TaskSource {
  github = installFakeGithub(folder, issues);
  return again(place);
}

function again(place: Partial<GithubPlace> = {}): TaskSource {
  let now = 0;
  return createGithubSource(
    { ...USUAL, ...place },
    { root: folder, env: { PATH: github.bin }, pausesMs: [0, 0], now: () => (now += 60_000) },
  );
}

const tasksOf = async (source: TaskSource) => (await source.observe()).tasks;
const asked = (): readonly string[] => github.hub().asked.map((args) => args.slice(0, 2).join(" "));

describe("reading", () => {
  test("takes the issues with the label, oldest first, and shows closed ones as done", async () => {
    const source = sourceWith([
      { state: "CLOSED" },
      { title: "second" },
      { labels: ["bug"] },
      { labels: ["ralph", "priority: high"] },
      { labels: ["P0", "ralph"] },
    ]);
    expect((await tasksOf(source)).map(({ id, done, priority }) => [id, done, priority])).toEqual([
      ["issue-1", true, null],
      ["issue-2", false, null],
      ["issue-4", false, 1],
      ["issue-5", false, 0],
    ]);
    expect(source.identity).toEqual({ kind: "github", label: "github:ralph", path: null });
  });

  test("takes boxes as criteria, and what must be closed first as dependencies", async () => {
    const body =
      "Make it so.\r\n\r\n- [ ] it is fast\n  - on Mondays too\n- [x] it is small\n\nDepends on #1, #3.";
    const source = sourceWith([{}, { body }, { state: "CLOSED", labels: [] }]);
    expect((await tasksOf(source))[1]).toMatchObject({
      criteria: ["it is fast", "on Mondays too", "it is small"],
      dependsOn: ["issue-1"],
    });
  });

  test("leaves out what the page does not show, and cuts what is too long", async () => {
    const source = sourceWith([
      { title: "a\u202Eb", body: "seen <!-- obey me --> this\u{E0041}\n<!-- and all of this" },
      { body: "x".repeat(100_000) },
    ]);
    const [first, second] = await tasksOf(source);
    expect(first).toMatchObject({ title: "ab", description: "seen  this" });
    expect(second?.description).toHaveLength(20_001);
  });

  test("takes an issue without a text as it is", async () => {
    expect(await tasksOf(sourceWith([{ body: null }]))).toMatchObject([
      { id: "issue-1", title: "issue 1", description: "", criteria: [], dependsOn: [] },
    ]);
  });

  test("an open issue without the label is waited for until it is closed", async () => {
    const source = sourceWith([{ body: "blocked by #2" }, { labels: [] }, {}]);
    const waits = async () => (await tasksOf(source)).map(({ id, dependsOn }) => [id, dependsOn]);
    expect(await waits()).toEqual([
      ["issue-1", ["issue-2"]],
      ["issue-3", []],
    ]);
    github.change((hub) => (hub.issues[1]!.state = "CLOSED"));
    expect(await waits()).toEqual([
      ["issue-1", []],
      ["issue-3", []],
    ]);
  });

  test("refuses to begin with an issue that waits for one that is not there, and waits if it comes later", async () => {
    const body = "blocked by #9";
    await expect(sourceWith([{}, { body }, { body }]).observe()).rejects.toMatchObject({
      code: "bad-tasks",
      message: "GitHub issues: issue-2, issue-3 depend on #9, which does not exist",
    });
    const source = sourceWith([{}]);
    await source.observe();
    github.change((hub) => (hub.issues[0]!.body = body));
    expect(await tasksOf(source)).toMatchObject([{ id: "issue-1", dependsOn: ["issue-9"] }]);
  });

  test("names a circle by its issues", async () => {
    const source = sourceWith([{ body: "Depends on #2" }, { body: "requires #1" }]);
    await expect(source.observe()).rejects.toThrow('"issue-1" (#1) → "issue-2" (#2) → "issue-1"');
  });

  test.each([
    ["offline", "unreachable", /error connecting|check your internet/],
    ["signed-out", "unreachable", /not signed in/],
    ["no-remote", "config", /no GitHub repository here/],
  ] as const)("says what is wrong when gh is %s", async (trouble, code, message) => {
    const source = sourceWith([{}]);
    github.change((hub) => (hub.trouble = trouble));
    await expect(source.observe()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("says what is wrong without gh, and without any issue", async () => {
    const source = sourceWith([{ labels: [] }], { repo: "me/mine" });
    await expect(source.observe()).rejects.toMatchObject({
      code: "no-tasks",
      hint: 'give it to what ralph is to do: gh issue edit 12 --add-label "ralph" --repo me/mine',
    });
    const without = createGithubSource(USUAL, { root: folder, env: { PATH: "/nonexistent" } });
    await expect(without.observe()).rejects.toThrow("the program gh is not installed");
  });

  test("asks for the repository that is configured", async () => {
    const source = sourceWith([{}], { repo: "me/mine" });
    github.change((hub) => (hub.trouble = "no-remote"));
    expect(await tasksOf(source)).toHaveLength(1);
    expect(source.identity.label).toBe("github:me/mine:ralph");
    expect(source.closingWords?.("issue-1")).toBe("Closes me/mine#1");
  });
});

describe("marking", () => {
  test("tells what was accepted, and closes", async () => {
    const source = sourceWith([{}, {}]);
    await source.observe();
    await source.mark("issue-1", ACCEPTED);
    expect(github.issue(1)).toMatchObject({ state: "CLOSED" });
    expect(github.issue(1).comments).toEqual([
      "Done, and accepted by ralph in iteration 7. Its work is in 3f2a91c. These gates had to pass: tests, types.\n\n<!-- ralph: accepted in run-1, iteration 7 -->",
    ]);
    expect((await tasksOf(source)).map(({ done }) => done)).toEqual([true, false]);
  });

  test("after a death between comment and closing goes on where it was, without a second comment", async () => {
    const source = sourceWith([{}]);
    github.change((hub) => (hub.ill = { "issue close": 3 }));
    await expect(source.mark("issue-1", ACCEPTED)).rejects.toMatchObject({ code: "unreachable" });
    expect(github.issue(1)).toMatchObject({ state: "OPEN", comments: [expect.any(String)] });
    await again().mark("issue-1", ACCEPTED);
    expect(github.issue(1)).toMatchObject({ state: "CLOSED", comments: [expect.any(String)] });
  });

  test("is tried again when GitHub is ill for a moment", async () => {
    const source = sourceWith([{}]);
    github.change((hub) => (hub.ill = { "issue comment": 1, "issue close": 2 }));
    await source.mark("issue-1", ACCEPTED);
    expect(github.issue(1)).toMatchObject({ state: "CLOSED", comments: [expect.any(String)] });
  });

  test.each([
    [
      "HTTP 403: Resource not accessible by integration (https://api.github.com/graphql)",
      /may not change issues/,
    ],
    ["GraphQL: Resource not accessible by personal access token (closeIssue)", /may not change issues/],
    ["GraphQL: me does not have the correct permissions to execute `CloseIssue`", /may not change issues/],
    ["HTTP 404: Not Found (https://api.github.com/graphql)", /may not change issues/],
    ["HTTP 401: Bad credentials (https://api.github.com/graphql)", /not signed in/],
  ])("is not tried again where GitHub refuses it: %s", async (words, message) => {
    const source = sourceWith([{}]);
    github.change((hub) => (hub.refused = { "issue close": words }));
    const error: unknown = await source.mark("issue-1", ACCEPTED).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringMatching(message) });
    expect(error).toMatchObject({
      message: expect.stringContaining(words),
      hint: expect.stringMatching(/^(give|sign)/),
    });
    expect(asked()).toEqual(["issue comment", "issue close"]);
  });

  test("is tried again where only the rate is limited, though that is said with the same number", async () => {
    const source = sourceWith([{}]);
    github.change(
      (hub) => (hub.refused = { "issue close": "HTTP 403: API rate limit exceeded for user ID 1." }),
    );
    await expect(source.mark("issue-1", ACCEPTED)).rejects.toThrow(
      "gh issue close failed: HTTP 403: API rate",
    );
    expect(asked()).toEqual(["issue comment", "issue close", "issue close", "issue close"]);
  });

  test("may leave the closing to people: then the label goes", async () => {
    const source = sourceWith([{}, { body: "Depends on #1" }], { whenDone: "comment" });
    await source.observe();
    github.change((hub) => (hub.listed = structuredClone(hub.issues)));
    await source.mark("issue-1", ACCEPTED);
    expect(github.issue(1)).toMatchObject({ state: "OPEN", labels: [], comments: [expect.any(String)] });
    expect(await tasksOf(source)).toMatchObject([{ id: "issue-2", dependsOn: [] }]);
  });

  test("stands although GitHub's lists show it later", async () => {
    const source = sourceWith([{}]);
    await source.observe();
    github.change((hub) => (hub.listed = structuredClone(hub.issues)));
    await source.mark("issue-1", ACCEPTED);
    expect((await tasksOf(source))[0]).toMatchObject({ done: true });
    github.change((hub) => (hub.listed = null));
    expect((await tasksOf(source))[0]).toMatchObject({ done: true });
    github.change((hub) => (hub.issues[0]!.state = "OPEN"));
    expect((await tasksOf(source))[0]).toMatchObject({ done: false });
  });

  test("leaves an issue that is gone, and an id that is none, alone", async () => {
    const source = sourceWith([{}]);
    await source.mark("issue-99", ACCEPTED);
    await source.mark("task-1", ACCEPTED);
    expect(asked()).toEqual([]);
  });
});

describe("an issue that is closed while an agent works", () => {
  const closedBy = async (login: string): Promise<readonly string[]> => {
    const source = sourceWith([{}, {}]);
    await source.observe();
    github.change((hub) => Object.assign(hub.issues[0]!, { state: "CLOSED", closedBy: login }));
    return source.takeBackMarks?.(new Set()) ?? [];
  };

  test("is opened again when the agent may have done it", async () => {
    expect(await closedBy("robot")).toEqual(["issue-1"]);
    expect(github.issue(1).state).toBe("OPEN");
  });

  test("stays closed when somebody else did it", async () => {
    expect(await closedBy("colleague")).toEqual([]);
    expect(github.issue(1).state).toBe("CLOSED");
  });
});
