import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type {
  Advanced,
  AdvanceRequest,
  MergeRequest,
  Merging,
  PreparedMerge,
  RevertRequest,
} from "../../src/engine/parallel-ports.ts";
import {
  BASE,
  checklist,
  marking,
  TODO,
  unmarking,
  type Files,
  type RepositoryHands,
} from "./repository-hands.ts";

export interface MergingSubject extends RepositoryHands {
  readonly merging: Merging;
  /** The base is that of a remote: the user's checkout has no part in it, whatever lies there. */
  readonly isOnRemote?: boolean;
  /** The commits that are kept as backups of a run's iteration. */
  kept(run: string, iteration: number): Promise<readonly string[]>;
}

const WORK = "ralph/task-001";
const WAYS = ["squash", "merge", "rebase"] as const;
const ABOUT = { run: "r1", task: "task-001", iteration: 7, title: "Make it work", base: BASE };

let subject: MergingSubject;
/** The base at the beginning. */
let start: string;

export function describeMerging(name: string, create: () => Promise<MergingSubject>): void {
  describe(`merging of ${name}`, () => {
    beforeEach(async () => {
      subject = await create();
      start = await subject.commit(BASE, { a: "a\n", b: "b\n", [TODO]: checklist() });
    });
    afterEach(() => subject.dispose());

    describePrepare();
    describeMovedBranch();
    describeMark();
    describeAdvance();
    describeWaiting();
    describeRename();
    describeRevert();
  });
}

async function prepare(over: Partial<MergeRequest> = {}): Promise<PreparedMerge> {
  const { branch = WORK } = over;
  const commit = (await subject.tip(branch)) ?? "";
  return subject.merging.prepare({ ...ABOUT, commit, branch, how: "squash", mark: null, ...over });
}

function advance(to: string, over: Partial<AdvanceRequest> = {}): Promise<Advanced> {
  const { run, iteration, base } = ABOUT;
  return subject.merging.advance({ run, iteration, base, from: start, to, ...over });
}

function revert(spans: RevertRequest["spans"], mark: RevertRequest["mark"] = null): Promise<PreparedMerge> {
  return subject.merging.revert({ ...ABOUT, spans, mark });
}

async function ready(preparing: Promise<PreparedMerge>): Promise<string> {
  const from = await subject.tip(BASE);
  const prepared = await preparing;
  expect(prepared).toEqual({ is: "ready", from, to: expect.any(String) as string });
  return prepared.is === "ready" ? prepared.to : "";
}

async function preparedFiles(preparing: Promise<PreparedMerge>): Promise<Files> {
  return subject.filesOf(await ready(preparing));
}

/** What the user's checkout holds when the base is there; no more than before if the base is a remote's. */
async function filesAfter(to: string): Promise<Files | null> {
  return subject.isOnRemote === true ? subject.filesIn(subject.root) : subject.filesOf(to);
}

/** Work on one file, ready to come to the base. */
async function preparedWork(): Promise<string> {
  await subject.commit(WORK, { a: "work\n", "new.txt": "new\n" });
  return ready(prepare());
}

function describePrepare(): void {
  describe("prepare", () => {
    test.each(WAYS)("%s: work of a branch goes together with what the base has got since", async (how) => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit(WORK, { b: null, "new.txt": "new\n" });
      const head = await subject.commit(BASE, { "other.txt": "other\n" });
      const { b: _removed, ...rest } = await subject.filesOf(head);
      expect(await preparedFiles(prepare({ how }))).toEqual({ ...rest, a: "work\n", "new.txt": "new\n" });
    });

    test("the files are the same in all three ways, also when commits do not apply one by one", async () => {
      await subject.commit(WORK, { a: "work\n" });
      const head = await subject.commit(BASE, { a: "somebody's\n" });
      await subject.commit(WORK, { a: "both\n" }, { merged: head });
      await subject.commit(WORK, { b: "more\n" });
      const results: Files[] = [];
      for (const how of WAYS) results.push(await preparedFiles(prepare({ how, mark: marking("task-001") })));
      expect(results[0]).toMatchObject({ a: "both\n", b: "more\n", [TODO]: checklist("task-001") });
      expect(results).toEqual([results[0], results[0], results[0]]);
    });

    test.each(WAYS)("%s: what both sides have changed is a conflict, path by path", async (how) => {
      await subject.commit(WORK, { a: "work\n", b: "work\n", "new.txt": "new\n" });
      const from = await subject.commit(BASE, { a: "somebody's\n", b: null });
      const prepared = await prepare({ how });
      expect(prepared).toMatchObject({ is: "conflict", from });
      expect("paths" in prepared && prepared.paths.toSorted()).toEqual(["a", "b"]);
    });

    test.each(WAYS)("%s: a branch whose work the base has already brings nothing", async (how) => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit(WORK, { b: "work\n" });
      const from = await subject.commit(BASE, { a: "work\n", b: "work\n" });
      expect(await prepare({ how })).toEqual({ is: "nothing", from });
    });

    test("a branch that took its own work back brings nothing", async () => {
      await subject.commit(WORK, { "new.txt": "new\n" });
      await subject.commit(WORK, { "new.txt": null });
      expect(await prepare()).toEqual({ is: "nothing", from: start });
    });

    test("nobody's checkout, index or branch is touched by it", async () => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit("ralph/task-002", { b: "work\n" });
      const to = await subject.commit(BASE, { b: "somebody's\n" });
      await subject.put(subject.root, "a", "a person's\n");
      await subject.put(subject.root, "mine.txt", "mine\n");
      const before = await subject.everything();
      for (const how of WAYS) await ready(prepare({ how, mark: marking("task-001") }));
      expect(await prepare({ branch: "ralph/task-002" })).toMatchObject({ is: "conflict" });
      await ready(revert([{ from: start, to }]));
      expect(await subject.everything()).toEqual(before);
    });

    test("it may be repeated until the base moves", async () => {
      const once = await subject.filesOf(await preparedWork());
      expect(await preparedFiles(prepare())).toEqual(once);
    });

    test("a commit that nobody has any more is told", async () => {
      await subject.commit(WORK, { a: "work\n" });
      const why = expect.stringMatching(/./) as string;
      expect(await prepare({ commit: "f".repeat(40) })).toEqual({ is: "gone", why });
      expect(await prepare()).toMatchObject({ is: "ready" });
    });
  });
}

function describeMovedBranch(): void {
  describe("a branch that somebody moved after its work was accepted", () => {
    let commit: string;
    let accepted: Files;

    beforeEach(async () => {
      commit = await subject.commit(WORK, { a: "work\n" });
      accepted = { ...(await subject.filesOf(start)), a: "work\n" };
    });

    /** What comes to the base, and what is told of the branch. */
    async function expectAccepted(told: unknown): Promise<void> {
      for (const how of WAYS) expect(await preparedFiles(prepare({ commit, how }))).toEqual(accepted);
      expect(await subject.merging.whatMoved(WORK, commit)).toEqual(told);
    }

    const words = { where: expect.any(String) as string, restore: expect.any(String) as string };

    test("where it was, nothing is told", () => expectAccepted(null));

    test("forward: the accepted commit is merged, and the rest is told", async () => {
      await subject.commit(WORK, { b: "more\n" });
      const tip = await subject.commit(WORK, { "evil.txt": "evil\n" });
      await expectAccepted({ tip, commits: 2, isAhead: true, ...words });
    });

    test("elsewhere: the accepted commit is merged, and the rest is told", async () => {
      const tip = await subject.commit("ralph/evil", { "evil.txt": "evil\n" });
      await subject.move(WORK, tip);
      await expectAccepted({ tip, commits: 1, isAhead: false, ...words });
    });

    test("back: the accepted commit is merged, and the branch is told", async () => {
      await subject.move(WORK, start);
      await expectAccepted({ tip: start, commits: 0, isAhead: false, ...words });
    });

    test("deleted: the accepted commit is merged, and the branch is told", async () => {
      await subject.move(WORK, null);
      await expectAccepted({ tip: null, commits: 0, isAhead: false, ...words });
    });
  });
}

function describeMark(): void {
  describe("the mark", () => {
    test.each(WAYS)("%s: it is in the result, with those that the base has got since", async (how) => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit(BASE, { [TODO]: checklist("task-002") });
      expect(await preparedFiles(prepare({ how, mark: marking("task-001") }))).toMatchObject({
        a: "work\n",
        [TODO]: checklist("task-001", "task-002"),
      });
    });

    const DEEDS: readonly [what: string, text: string | null][] = [
      ["a mark of its own", checklist("task-001")],
      ["marks of others", checklist("task-001", "task-002")],
      ["other tasks", "[ ] task-003\n"],
      ["its deletion", null],
    ];

    test.each(DEEDS)("what the branch did to the task file does not count: %s", async (_what, text) => {
      await subject.commit(WORK, { a: "work\n", [TODO]: text });
      for (const how of WAYS)
        expect(await preparedFiles(prepare({ how, mark: marking("task-001") }))).toMatchObject({
          a: "work\n",
          [TODO]: checklist("task-001"),
        });
      await subject.commit(BASE, { [TODO]: checklist("task-002") });
      expect(await preparedFiles(prepare({ mark: marking("task-001") }))).toMatchObject({
        [TODO]: checklist("task-001", "task-002"),
      });
    });

    test("where the base has no task file, the branch's counts", async () => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit(BASE, { [TODO]: null });
      const request = { mark: marking("task-001") };
      expect(await preparedFiles(prepare(request))).toMatchObject({ [TODO]: checklist("task-001") });
      await subject.commit(WORK, { [TODO]: checklist("task-002") });
      expect(await preparedFiles(prepare(request))).toMatchObject({
        [TODO]: checklist("task-001", "task-002"),
      });
    });

    test("where nobody has a task file, there is no mark", async () => {
      await subject.commit(BASE, { [TODO]: null });
      await subject.commit(WORK, { a: "work\n" });
      expect(await preparedFiles(prepare({ mark: marking("task-001") }))).not.toHaveProperty(TODO);
    });

    test.each(WAYS)("%s: it alone is left to do when the base has the work already", async (how) => {
      await subject.commit(WORK, { a: "work\n" });
      await subject.commit(BASE, { a: "work\n" });
      const request = { how, mark: marking("task-001") };
      expect(await preparedFiles(prepare(request))).toMatchObject({ [TODO]: checklist("task-001") });
      await subject.commit(BASE, { [TODO]: checklist("task-001") });
      expect(await prepare(request)).toMatchObject({ is: "nothing" });
    });
  });
}

function describeAdvance(): void {
  describe("advance", () => {
    test("the base moves, and its checkout with it", async () => {
      const to = await preparedWork();
      const files = await filesAfter(to);
      expect(await advance(to)).toEqual({ is: "moved" });
      expect(await subject.tip(BASE)).toBe(to);
      expect(await subject.filesIn(subject.root)).toEqual(files);
      expect(await prepare()).toEqual({ is: "nothing", from: to });
    });

    test("a base that is not checked out moves alone", async () => {
      const to = await preparedWork();
      await subject.commit("elsewhere", { b: "elsewhere\n" });
      await subject.switchTo("elsewhere");
      await subject.put(subject.root, "a", "a person's\n");
      const before = await subject.filesIn(subject.root);
      expect(await advance(to)).toEqual({ is: "moved" });
      expect(await subject.tip(BASE)).toBe(to);
      expect(await subject.filesIn(subject.root)).toEqual(before);
    });

    test("repeated, it has moved, also when somebody has worked on top of it since", async () => {
      const to = await preparedWork();
      await advance(to);
      expect(await advance(to)).toEqual({ is: "moved" });
      const head = await subject.commit(BASE, { b: "somebody's\n" });
      expect(await advance(to)).toEqual({ is: "moved" });
      expect(await subject.tip(BASE)).toBe(head);
    });

    test("a base that somebody else moved is elsewhere, and stays there", async () => {
      const to = await preparedWork();
      const head = await subject.commit(BASE, { b: "somebody's\n" });
      const files = await filesAfter(head);
      expect(await advance(to)).toEqual({ is: "elsewhere", head });
      expect(await subject.tip(BASE)).toBe(head);
      expect(await subject.filesIn(subject.root)).toEqual(files);
    });

    test("a base that is gone is elsewhere", async () => {
      const to = await preparedWork();
      expect(await advance(to, { base: "gone" })).toEqual({ is: "elsewhere", head: null });
    });

    test("what was prepared and is no more is to be prepared again", async () => {
      expect(await advance("f".repeat(40))).toEqual({ is: "elsewhere", head: start });
      expect(await subject.tip(BASE)).toBe(start);
    });

    test("the base is kept as it was, once for each commit that it was at", async () => {
      const to = await preparedWork();
      expect(await subject.kept("r1", 7)).toEqual([]);
      await advance(to);
      await advance(to);
      expect(await subject.kept("r1", 7)).toEqual([start]);
      await subject.commit(WORK, { b: "more\n" }, { merged: to });
      await advance(await ready(prepare()), { from: to });
      expect((await subject.kept("r1", 7)).toSorted()).toEqual([start, to].toSorted());
      expect(await subject.kept("r1", 8)).toEqual([]);
    });
  });
}

function describeWaiting(): void {
  describe("waiting", () => {
    const DEEDS: readonly [what: string, name: string, text: string | null][] = [
      ["a change where the work has one", "a", "a person's\n"],
      ["a change elsewhere", "b", "a person's\n"],
      ["a file that is gone", "b", null],
      ["a new file where one comes", "new.txt", "a person's\n"],
    ];

    test.each(DEEDS)("%s is in the way, and stays", async (_what, name, text) => {
      const to = await preparedWork();
      await subject.put(subject.root, name, text);
      const before = await subject.filesIn(subject.root);
      if (subject.isOnRemote === true) {
        expect(await advance(to)).toEqual({ is: "moved" });
        expect(await subject.filesIn(subject.root)).toEqual(before);
        return;
      }
      expect(await advance(to)).toEqual({
        is: "waits",
        root: subject.root,
        why: "it has uncommitted changes",
        paths: [name],
      });
      expect(await subject.tip(BASE)).toBe(start);
      expect(await subject.filesIn(subject.root)).toEqual(before);
      await subject.put(subject.root, name, (await subject.filesOf(start))[name] ?? null);
      expect(await advance(to)).toEqual({ is: "moved" });
    });

    test("a new file that nothing comes to is not in the way, and stays", async () => {
      const to = await preparedWork();
      await subject.put(subject.root, "mine.txt", "mine\n");
      const files = await filesAfter(to);
      expect(await advance(to)).toEqual({ is: "moved" });
      expect(await subject.filesIn(subject.root)).toEqual({ ...files, "mine.txt": "mine\n" });
    });

    test("a base that has moved is elsewhere, whatever lies in its checkout", async () => {
      const to = await preparedWork();
      const head = await subject.commit(BASE, { b: "somebody's\n" });
      await subject.put(subject.root, "a", "a person's\n");
      expect(await advance(to)).toEqual({ is: "elsewhere", head });
    });
  });
}

function describeRename(): void {
  describe("rename", () => {
    const MERGED = "ralph/merged/task-001";

    test("the work is still there, under the other name only", async () => {
      const tip = await subject.commit(WORK, { a: "work\n" });
      await subject.merging.rename(WORK, MERGED);
      expect([await subject.tip(WORK), await subject.tip(MERGED)]).toEqual([null, tip]);
      await subject.merging.rename(WORK, MERGED);
      expect(await subject.tip(MERGED)).toBe(tip);
    });

    test("whatever had the name before makes room", async () => {
      await subject.commit(MERGED, { b: "earlier\n" });
      const tip = await subject.commit(WORK, { a: "work\n" });
      await subject.merging.rename(WORK, MERGED);
      expect([await subject.tip(WORK), await subject.tip(MERGED)]).toEqual([null, tip]);
    });

    test("a branch that is gone is left alone", async () => {
      const tip = await subject.commit(MERGED, { a: "work\n" });
      const before = await subject.everything();
      await subject.merging.rename(WORK, MERGED);
      expect(await subject.tip(MERGED)).toBe(tip);
      expect(await subject.everything()).toEqual(before);
    });
  });
}

function describeRevert(): void {
  describe("revert", () => {
    test("takes work back, and leaves what came after", async () => {
      const to = await preparedWork();
      await advance(to);
      await subject.commit(BASE, { b: "somebody's\n" });
      expect(await preparedFiles(revert([{ from: start, to }]))).toEqual({
        ...(await subject.filesOf(start)),
        b: "somebody's\n",
      });
    });

    test("takes several spans back, the latest first", async () => {
      const one = await subject.commit(BASE, { a: "one\n" });
      const between = await subject.commit(BASE, { b: "somebody's\n" });
      const two = await subject.commit(BASE, { a: "two\n", "new.txt": "new\n" });
      const spans = [
        { from: between, to: two },
        { from: start, to: one },
      ];
      expect(await preparedFiles(revert(spans))).toEqual({
        ...(await subject.filesOf(start)),
        b: "somebody's\n",
      });
    });

    test("takes back to nothing what came from nothing", async () => {
      const span = { from: null, to: start };
      expect(await preparedFiles(revert([span]))).toEqual({});
      expect(await preparedFiles(revert([span], unmarking("task-001")))).toEqual({ [TODO]: checklist() });
    });

    test("conflicts with what was built on it", async () => {
      const to = await subject.commit(BASE, { a: "work\n", b: "work\n" });
      const from = await subject.commit(BASE, { a: "on top\n" });
      expect(await revert([{ from: start, to }])).toEqual({ is: "conflict", from, paths: ["a"] });
    });

    test("takes the mark away, and no other", async () => {
      const to = await subject.commit(BASE, { a: "work\n", [TODO]: checklist("task-001") });
      await subject.commit(BASE, { [TODO]: checklist("task-001", "task-002") });
      expect(await preparedFiles(revert([{ from: start, to }], unmarking("task-001")))).toMatchObject({
        a: "a\n",
        [TODO]: checklist("task-002"),
      });
    });

    test("the base moves by advance; then there is nothing left to take back", async () => {
      const to = await subject.commit(BASE, { a: "work\n", [TODO]: checklist("task-001") });
      const undo = (): Promise<PreparedMerge> => revert([{ from: start, to }], unmarking("task-001"));
      const undone = await ready(undo());
      expect(await subject.tip(BASE)).toBe(to);
      expect(await advance(undone, { from: to })).toEqual({ is: "moved" });
      expect(await subject.filesOf(undone)).toEqual(await subject.filesOf(start));
      expect(await undo()).toEqual({ is: "nothing", from: undone });
    });
  });
}
