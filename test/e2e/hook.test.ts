import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { snapshotOf, readStories } from "../../src/core/review/story-review.ts";
import {
  story,
  STORY_TRANSITIONS,
  type RawStory,
  type StoryTransition,
} from "../fixtures/story-transitions.ts";
import { createHookFolder, type HookFolder } from "./hook-client.ts";

let folder: HookFolder;

beforeEach(() => {
  folder = createHookFolder();
});
afterEach(() => folder.dispose());

const APPROVE = { decision: "approve" };
const WRONG = [story(1, { passes: true, notes: "done" })];

type Layout = "ours" | "bare";

interface Known {
  readonly mode?: string;
  readonly before?: readonly RawStory[];
  readonly cap?: number;
  readonly skipReview?: boolean;
  readonly others?: Readonly<Record<string, unknown>>;
}

/** A run under way, with the stories as the agent left them. */
function beginRun(place: HookFolder, layout: Layout, after: readonly RawStory[], known: Known = {}): void {
  const { mode, before, cap, skipReview, others } = known;
  const snapshot = before && snapshotOf(readStories({ userStories: before }).stories);
  const isOurs = layout === "ours";
  place.write(isOurs ? ".ralph/tasks.json" : "ralph/tasks.json", { project: "p", userStories: after });
  place.write(isOurs ? ".ralph/active.json" : ".ralph-active", {
    pid: 1,
    [isOurs ? "iteration_mode" : "iterationMode"]: mode,
    [isOurs ? "snapshot" : "preIterationSnapshot"]: snapshot,
    [isOurs ? "review_cap" : "reviewCap"]: cap,
    [isOurs ? "skip_review" : "skipReview"]: skipReview,
    ...others,
  });
}

const LAYOUTS = ["ours", "bare"] as const;
const MODES = ["implement", "review", "review-fix"] as const;

describe("an agent that wants to stop", () => {
  test.each(LAYOUTS.flatMap((layout) => MODES.map((mode) => ({ layout, mode }))))(
    "in $mode, layout $layout, may do so after every legal transition and no other",
    async ({ layout, mode }) => {
      const rows = STORY_TRANSITIONS.filter((row) => row.mode === mode);
      const judged = await Promise.all(
        rows.map(async (row) => [row.does, await judge(layout, row)] as const),
      );
      expect(judged).toEqual(rows.map(({ does, wrong }) => [does, wrong.length === 0 ? "legal" : "blocked"]));
    },
  );

  async function judge(layout: Layout, row: StoryTransition): Promise<string> {
    const place = createHookFolder();
    try {
      beginRun(place, layout, row.after, row);
      const { decision, reason = "" } = await place.ask("stop", { input: { session_id: "s" } });
      if (decision === "approve") return "legal";
      const unnamed = row.wrong.filter(
        (one) =>
          !one
            .split(" ")
            .slice(0, 2)
            .every((word) => reason.includes(word)),
      );
      return unnamed.length === 0 ? "blocked" : `blocked without naming ${unnamed.join(", ")}: ${reason}`;
    } finally {
      place.dispose();
    }
  }

  test("may do so without an active run, whatever it is told", async () => {
    folder.write(".ralph/tasks.json", { userStories: WRONG });
    folder.write("ralph/tasks.json", "no JSON");
    for (const input of [{}, "", "garbage", "[1]", '{"cwd": 7}', { cwd: "/nonexistent/x" }])
      expect(await folder.ask("stop", { input })).toEqual(APPROVE);
  });

  test.each(LAYOUTS)(
    "is held to what must always hold when nothing is known of before (%s)",
    async (layout) => {
      beginRun(folder, layout, WRONG, { mode: "implement" });
      expect((await folder.ask("stop")).reason).toContain("US-001: passes is true, but reviewStatus is null");
      beginRun(folder, layout, [story(1, { reviewStatus: "needs_review", reviewCount: 3 })], {
        mode: "implement",
      });
      expect(await folder.ask("stop")).toEqual(APPROVE);
    },
  );

  test.each(LAYOUTS)(
    "is judged as far as possible when the run's own file is damaged (%s)",
    async (layout) => {
      for (const damage of ["", "{", "[]", "7", '{"iteration_mode": 3, "snapshot": 4, "review_cap": "x"}']) {
        beginRun(folder, layout, [story(1)]);
        folder.write(layout === "ours" ? ".ralph/active.json" : ".ralph-active", damage);
        expect(await folder.ask("stop")).toEqual(APPROVE);
        folder.write(layout === "ours" ? ".ralph/tasks.json" : "ralph/tasks.json", { userStories: WRONG });
        expect((await folder.ask("stop")).decision).toBe("block");
      }
    },
  );

  test.each(LAYOUTS)("cannot get away by damaging the file (%s)", async (layout) => {
    const file = layout === "ours" ? ".ralph/tasks.json" : "ralph/tasks.json";
    beginRun(folder, layout, [story(1)], { mode: "implement", before: [story(1)] });
    for (const damage of ["{", "", "null", '{"userStories": 3}']) {
      folder.write(file, damage);
      const { decision, reason } = await folder.ask("stop", { input: { session_id: damage } });
      expect(decision).toBe("block");
      expect(reason).toContain(file);
    }
    execFileSync("rm", [file], { cwd: folder.root });
    expect((await folder.ask("stop")).decision).toBe("block");
  });

  test("is left alone by our run whose tasks are no stories", async () => {
    beginRun(folder, "ours", WRONG, { others: { source: ".ralph/roadmap.md" } });
    expect(await folder.ask("stop")).toEqual(APPROVE);
    folder.write("list.json", { userStories: WRONG });
    folder.write(".ralph/active.json", { source: "list.json" });
    expect((await folder.ask("stop")).reason).toContain("list.json is not as it should be");
  });

  test("is found wherever it stands in its project, and in worktrees", async () => {
    beginRun(folder, "ours", WRONG);
    mkdirSync(join(folder.root, "src/deep"), { recursive: true });
    expect((await folder.ask("stop", { cwd: "src/deep" })).decision).toBe("block");
    expect((await folder.ask("stop", { cwd: "..", input: { cwd: join(folder.root, "src") } })).decision).toBe(
      "block",
    );
    expect((await folder.ask("stop", { cwd: "..", env: { CLAUDE_PROJECT_DIR: folder.root } })).decision).toBe(
      "block",
    );
    expect(await folder.ask("stop", { cwd: ".." })).toEqual(APPROVE);
    // Another repository inside is not the run's.
    mkdirSync(join(folder.root, "src/deep/.git"));
    expect(await folder.ask("stop", { cwd: "src/deep" })).toEqual(APPROVE);
    folder.write("src/deep/.ralph/tasks.json", { userStories: WRONG });
    const env = { RALPH_DIR: join(folder.root, ".ralph") };
    expect((await folder.ask("stop", { cwd: "src/deep", env })).decision).toBe("block");
    folder.write("src/deep/.ralph/tasks.json", { userStories: [story(1)] });
    expect(await folder.ask("stop", { cwd: "src/deep", env })).toEqual(APPROVE);
  });

  test("is found in another folder than ours", async () => {
    folder.write("loop/tasks.json", { userStories: WRONG });
    folder.write("loop/active.json", {});
    expect(await folder.ask("stop")).toEqual(APPROVE);
    expect((await folder.ask("stop", { args: ["--dir", "loop"] })).decision).toBe("block");
    expect((await folder.ask("stop", { env: { RALPH_DIR: "loop" } })).decision).toBe("block");
  });
});

describe("an agent that cannot mend it", () => {
  async function decisions(count: number, input: object, env = {}): Promise<string> {
    let letters = "";
    for (let number = 0; number < count; number += 1)
      letters += (await folder.ask("stop", { input, env })).decision === "block" ? "b" : "a";
    return letters;
  }

  test("is let go after five times, and the next iteration is counted anew", async () => {
    beginRun(folder, "bare", WRONG, { mode: "implement" });
    const input = { session_id: "s", stop_hook_active: true };
    expect(await decisions(7, input)).toBe("bbbbbaa");
    expect(await decisions(1, { session_id: "another" })).toBe("b");
    beginRun(folder, "bare", WRONG, { mode: "review" });
    expect(await decisions(1, input)).toBe("b");
  });

  test("is counted in the folder of the iteration, if it has one", async () => {
    beginRun(folder, "ours", WRONG);
    const [one, two] = ["one", "two"].map((name) => join(folder.root, name));
    for (const path of [one, two]) mkdirSync(path ?? "");
    expect(await decisions(6, { session_id: "s" }, { RALPH_ITERATION_DIR: one })).toBe("bbbbba");
    expect(await decisions(1, { session_id: "t" }, { RALPH_ITERATION_DIR: one })).toBe("a");
    expect(await decisions(6, { session_id: "s" }, { RALPH_ITERATION_DIR: two })).toBe("bbbbba");
  });

  test("is told once when nothing can be counted", async () => {
    beginRun(folder, "ours", WRONG);
    const env = { TMPDIR: join(folder.root, "no-such") };
    expect(await decisions(2, { stop_hook_active: false }, env)).toBe("bb");
    expect(await decisions(2, { stop_hook_active: true }, env)).toBe("aa");
  });
});

describe("a review that changed no story", () => {
  const waiting = [story(1, { reviewStatus: "needs_review" })];
  const blocked = "I have no access.\n<promise>BLOCKED:no key</promise>";
  const decide = "<promise>DECIDE:which? | a | b</promise>";
  const approved = "Fine.\n<promise>APPROVED</promise>";
  const objected = "<promise>CHANGES_REQUESTED:handle nulls</promise>";

  test.each<[Layout, string, string]>([
    ["ours", "looked at it", "block"],
    ["ours", blocked, "approve"],
    ["ours", decide, "approve"],
    ["ours", approved, "approve"],
    ["ours", objected, "approve"],
    ["ours", "<promise>CHANGES_REQUESTED:</promise>", "block"],
    ["ours", "<promise>BLOCKED: </promise>", "block"],
    ["ours", "<promise>COMPLETE</promise>", "block"],
    ["bare", "looked at it", "block"],
    ["bare", blocked, "approve"],
    ["bare", decide, "approve"],
    ["bare", approved, "block"],
    ["bare", objected, "block"],
  ])("in layout %s that ended with %j: %s", async (layout, words, expected) => {
    beginRun(folder, layout, waiting, { mode: "review", before: waiting });
    const said = await folder.ask("stop", { input: { last_assistant_message: words } });
    expect(said.decision).toBe(expected);
    const line = {
      type: "assistant",
      message: { role: "assistant", content: [{ type: "text", text: words }] },
    };
    const transcript = folder.write(
      "../transcript.jsonl",
      `garbage\n${JSON.stringify(line)}\n{"type":"user"}\n`,
    );
    const written = await folder.ask("stop", { input: { transcript_path: transcript, session_id: "t" } });
    expect(written.decision).toBe(expected);
  });

  test("may say through its tools that a person is needed", async () => {
    beginRun(folder, "ours", waiting, { mode: "review", before: waiting });
    const env = { RALPH_ITERATION_DIR: folder.root };
    writeFileSync(join(folder.root, "reports.jsonl"), '{"tool":"report_progress","message":"x"}\n');
    expect((await folder.ask("stop", { env })).decision).toBe("block");
    writeFileSync(join(folder.root, "reports.jsonl"), '{"tool":"ask_decision","question":"which?"}\n');
    expect(await folder.ask("stop", { env })).toEqual(APPROVE);
  });

  test("is not excused for anything else", async () => {
    beginRun(folder, "ours", [...waiting, story(2, { passes: true })], { mode: "review", before: waiting });
    const { reason = "" } = await folder.ask("stop", { input: { last_assistant_message: blocked } });
    expect(reason).toContain("US-002");
    expect(reason).not.toContain("US-001");
  });
});

describe("uncommitted changes", () => {
  function git(...args: string[]): void {
    const who = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
    execFileSync("git", [...who, ...args], { cwd: folder.root, stdio: "ignore" });
  }

  function commit(): void {
    git("init", "--quiet");
    git("add", "--all");
    git("commit", "--quiet", "--message", "work");
  }

  test("hold up a bare run, but not those to its own files", async () => {
    beginRun(folder, "bare", [story(1)]);
    commit();
    beginRun(folder, "bare", [story(1)], { mode: "implement" });
    folder.write("ralph/logs/summary.csv", "x");
    folder.write("ralph/blocked.txt", "x");
    expect(await folder.ask("stop")).toEqual(APPROVE);
    folder.write("src/new file.ts", "x");
    folder.write("ralph/tasks.json", { userStories: [story(1), story(2)] });
    const { reason } = await folder.ask("stop");
    expect(reason).toContain("You have uncommitted changes: ralph/tasks.json, src/.");
  });

  test("hold up our run only where the agent commits", async () => {
    beginRun(folder, "ours", [story(1)]);
    commit();
    folder.write("new.ts", "x");
    folder.write(".ralph/tasks.json", { userStories: [story(1), story(2)] });
    expect(await folder.ask("stop")).toEqual(APPROVE);
    beginRun(folder, "ours", [story(1)], { others: { git_commit: "agent" } });
    expect((await folder.ask("stop")).reason).toContain("uncommitted changes: new.ts.");
    beginRun(folder, "ours", [story(1)], { others: { git_commit: "ralph" } });
    folder.write(".ralph/ralph.toml", '[git]\ncommit = "agent"\n');
    expect(await folder.ask("stop")).toEqual(APPROVE);
  });

  test("are weighed by the configuration when the run does not tell", async () => {
    beginRun(folder, "ours", [story(1)]);
    commit();
    folder.write("new.ts", "x");
    expect((await folder.ask("stop", { env: { RALPH_GIT_COMMIT: "agent" } })).decision).toBe("block");
    folder.write(".ralph/ralph.json", { git: { commit: "agent" } });
    expect((await folder.ask("stop")).decision).toBe("block");
    folder.write(".ralph/ralph.json", {});
    folder.write(".ralph/ralph.toml", '# commit = "agent"\n[git]\ncommit = "ralph"\n');
    expect(await folder.ask("stop")).toEqual(APPROVE);
    folder.write(".ralph/ralph.toml", '[git]\ncommit = "agent"\n');
    expect((await folder.ask("stop")).decision).toBe("block");
    folder.write(".ralph/ralph.toml", "commit = = nonsense\n");
    expect(await folder.ask("stop")).toEqual(APPROVE);
  });

  test("hold up nobody where there is no repository", async () => {
    beginRun(folder, "bare", [story(1)]);
    expect(await folder.ask("stop")).toEqual(APPROVE);
  });
});

describe("the command itself", () => {
  test("refuses what is no hook of ours", async () => {
    for (const words of ["", "start"]) {
      const { code, stdout, stderr } = await folder.call(words);
      expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
      expect(stderr).toContain("event");
    }
    expect((await folder.call("stop", { args: ["--nonsense"] })).code).toBe(64);
  });
});
