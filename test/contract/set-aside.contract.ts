import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BranchMove, BranchMoved } from "../../src/engine/parallel-ports.ts";
import type { MergingSubject } from "./merging.contract.ts";
import { BASE, checklist, TODO, type Files } from "./repository-hands.ts";

const WORK = "ralph/task-001";

let subject: MergingSubject;
/** The branch at the beginning. */
let start: string;

/** What takes unaccepted work off the operator's branch, and brings it back. */
export function describeSetAside(name: string, create: () => Promise<MergingSubject>): void {
  describe(`setting aside in ${name}`, () => {
    beforeEach(async () => {
      subject = await create();
      start = await subject.commit(BASE, { a: "a\n", b: "b\n", [TODO]: checklist() });
    });
    afterEach(() => subject.dispose());

    describeSet();
    describeKeep();
  });
}

function set(from: string, to: string, over: Partial<BranchMove> = {}): Promise<BranchMoved> {
  return subject.merging.set({ branch: BASE, from, to, hold: [], ...over });
}

const MOVED: BranchMoved = { is: "moved", held: [] };

function describeSet(): void {
  describe("set", () => {
    const there = async (): Promise<[head: string | null, files: Files | null]> => [
      await subject.tip(BASE),
      await subject.filesIn(subject.root),
    ];

    test("moves a branch and its checkout back, and forth again", async () => {
      const before = await subject.filesIn(subject.root);
      const work = await subject.commit(BASE, { a: "work\n", b: null, "new.txt": "new\n" });
      const after = await subject.filesIn(subject.root);
      expect(await set(work, start)).toEqual(MOVED);
      expect(await there()).toEqual([start, before]);
      expect(await set(work, start)).toEqual(MOVED);
      expect(await set(start, work)).toEqual(MOVED);
      expect(await there()).toEqual([work, after]);
    });

    test("leaves a branch that somebody else has moved", async () => {
      const work = await subject.commit(BASE, { a: "work\n" });
      const theirs = await subject.commit(BASE, { b: "somebody's\n" });
      const before = await there();
      expect(await set(work, start)).toMatchObject({ is: "stays", why: "somebody else has moved it" });
      expect(await there()).toEqual([theirs, before[1]]);
    });

    test("moves a branch alone that is not checked out", async () => {
      const work = await subject.commit(BASE, { a: "work\n" });
      await subject.commit("elsewhere", { b: "elsewhere\n" });
      await subject.switchTo("elsewhere");
      await subject.put(subject.root, "a", "a person's\n");
      const before = await subject.filesIn(subject.root);
      expect(await set(work, start)).toEqual(MOVED);
      expect(await there()).toEqual([start, before]);
    });

    const DEEDS: readonly [what: string, name: string, text: string | null][] = [
      ["a change where the work has one", "a", "a person's\n"],
      ["a change of a new file", "new.txt", "a person's\n"],
      ["a file that is gone", "a", null],
    ];

    test.each(DEEDS)("%s is in the way, and nothing is lost", async (_what, name, text) => {
      const work = await subject.commit(BASE, { a: "work\n", "new.txt": "new\n" });
      await subject.put(subject.root, name, text);
      const before = await there();
      expect(await set(work, start)).toMatchObject({ is: "stays", paths: [name] });
      expect(await there()).toEqual(before);
      await subject.put(subject.root, name, (await subject.filesOf(work))[name] ?? null);
      expect(await set(work, start)).toEqual(MOVED);
    });

    test("a new file where the work would come back is in the way, and no other", async () => {
      const work = await subject.commit(BASE, { "new.txt": "new\n" });
      await set(work, start);
      await subject.put(subject.root, "new.txt", "a person's\n");
      await subject.put(subject.root, "mine.txt", "mine\n");
      const before = await there();
      expect(await set(start, work)).toMatchObject({ is: "stays", paths: ["new.txt"] });
      expect(await there()).toEqual(before);
      await subject.put(subject.root, "new.txt", null);
      expect(await set(start, work)).toEqual(MOVED);
      expect((await there())[1]).toMatchObject({ "new.txt": "new\n", "mine.txt": "mine\n" });
    });

    test("a change elsewhere is not in the way, and stays", async () => {
      const work = await subject.commit(BASE, { a: "work\n" });
      await subject.put(subject.root, "b", "a person's\n");
      expect(await set(work, start)).toEqual(MOVED);
      expect((await there())[1]).toMatchObject({ a: "a\n", b: "a person's\n" });
    });

    test("a path that is held stays as it is, which is told, also with changes in it", async () => {
      const work = await subject.commit(BASE, { a: "work\n", [TODO]: checklist("task-002") });
      expect(await set(work, start, { hold: [TODO] })).toEqual({ is: "moved", held: [TODO] });
      expect((await there())[1]).toMatchObject({ a: "a\n", [TODO]: checklist("task-002") });
      await set(start, work, { hold: [TODO] });
      await subject.put(subject.root, TODO, checklist("task-001", "task-002"));
      expect(await set(work, start, { hold: [TODO] })).toMatchObject({ is: "moved" });
      expect((await there())[1]).toMatchObject({ a: "a\n", [TODO]: checklist("task-001", "task-002") });
    });
  });
}

function describeKeep(): void {
  describe("keep and drop", () => {
    const ASIDE = "ralph/aside/task-001";

    test("work has a branch until it is dropped", async () => {
      const work = await subject.commit(WORK, { a: "work\n" });
      expect(await subject.merging.keep(ASIDE, work)).toBe(ASIDE);
      expect(await subject.merging.keep(ASIDE, work)).toBe(ASIDE);
      expect(await subject.tip(ASIDE)).toBe(work);
      await subject.merging.drop(ASIDE, start);
      expect(await subject.tip(ASIDE)).toBe(work);
      await subject.merging.drop(ASIDE, work);
      await subject.merging.drop(ASIDE, work);
      expect(await subject.tip(ASIDE)).toBe(null);
      expect(await subject.merging.keep(ASIDE, work)).toBe(ASIDE);
    });

    test("a branch that has earlier work is kept, or goes on with more of it", async () => {
      const work = await subject.commit(WORK, { a: "work\n" });
      const more = await subject.commit(WORK, { b: "more\n" });
      const other = await subject.commit("other", { a: "other\n" });
      expect(await subject.merging.keep(ASIDE, work)).toBe(ASIDE);
      expect(await subject.merging.keep(ASIDE, more)).toBe(ASIDE);
      expect(await subject.merging.keep(ASIDE, other)).toBe(`${ASIDE}-2`);
      expect([await subject.tip(ASIDE), await subject.tip(`${ASIDE}-2`)]).toEqual([more, other]);
    });

    test("what is dropped for good can still be found", async () => {
      const work = await subject.commit(ASIDE, { a: "work\n" });
      await subject.merging.drop(ASIDE, work, { run: "r1", iteration: 7 });
      expect(await subject.tip(ASIDE)).toBe(null);
      expect(await subject.kept("r1", 7)).toEqual([work]);
    });
  });
}
