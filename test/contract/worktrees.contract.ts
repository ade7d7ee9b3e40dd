import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Worktrees } from "../../src/engine/parallel-ports.ts";
import { BASE, type RepositoryHands } from "./repository-hands.ts";

export interface WorktreesSubject extends RepositoryHands {
  readonly worktrees: Worktrees;
  /** What an agent does in its worktree; answers the new commit. */
  commitIn(root: string): Promise<string>;
  /** Whether set-ups fail from now on. */
  failSetups(fail: boolean): Promise<void>;
  /** `git worktree lock`. */
  lock(root: string): Promise<void>;
  /** A person deletes the folder. */
  deleteFolder(root: string): Promise<void>;
  /** A process was killed while it used a checkout of this commit; answers the folder. */
  leaveBehind(commit: string): Promise<string>;
}

const TASK = "task-001";
const BRANCH = "ralph/task-001";

let subject: WorktreesSubject;
let worktrees: Worktrees;
/** The base at the beginning. */
let start: string;

export function describeWorktrees(name: string, create: () => Promise<WorktreesSubject>): void {
  describe(`the worktrees of ${name}`, () => {
    beforeEach(async () => {
      subject = await create();
      ({ worktrees } = subject);
      start = await subject.commit(BASE, { a: "a\n", b: "b\n" });
    });
    afterEach(() => subject.dispose());

    describeOpen();
    describeSetup();
    describeAt();
    describeList();
    describeRemove();
    describeLeftovers();

    test("a checkout is gone before it is made, and when somebody has deleted it", async () => {
      expect(await worktrees.isGone(TASK)).toBe(true);
      const { root } = await worktrees.open(TASK, BASE);
      expect(await worktrees.isGone(TASK)).toBe(false);
      await subject.deleteFolder(root);
      expect(await worktrees.isGone(TASK)).toBe(true);
    });

    test("nothing of it touches the user's checkout", async () => {
      await subject.put(subject.root, "a", "a person's\n");
      await subject.put(subject.root, "mine.txt", "mine\n");
      await subject.commit(BRANCH, { b: "work\n" });
      const before = await subject.everything();
      await worktrees.open(TASK, BASE);
      await worktrees.at(start, () => Promise.resolve());
      await worktrees.list();
      await worktrees.remove(TASK);
      await worktrees.clearLeftovers();
      expect(await subject.everything()).toEqual(before);
    });
  });
}

function describeOpen(): void {
  describe("open", () => {
    test("makes a checkout of the base, on a branch of its own", async () => {
      const opened = await worktrees.open(TASK, BASE);
      expect(opened).toMatchObject({ is: "ready", branch: BRANCH, copied: [] });
      expect(opened.root).not.toBe(subject.root);
      expect(await subject.filesIn(opened.root)).toEqual(await subject.filesOf(start));
      expect(await subject.tip(BRANCH)).toBe(start);
    });

    test("what is committed there is on the branch, and on no other", async () => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.put(root, "a", "work\n");
      const head = await subject.commitIn(root);
      expect(await subject.tip(BRANCH)).toBe(head);
      expect(await subject.tip(BASE)).toBe(start);
    });

    test("is the same checkout again, whatever is in it and wherever the base is", async () => {
      const first = await worktrees.open(TASK, BASE);
      await subject.put(first.root, "a", "work\n");
      await subject.commitIn(first.root);
      await subject.put(first.root, "b", null);
      await subject.put(first.root, "new.txt", "new\n");
      const left = await subject.filesIn(first.root);
      await subject.commit(BASE, { "other.txt": "other\n" });
      expect(await worktrees.open(TASK, BASE)).toEqual(first);
      expect(await subject.filesIn(first.root)).toEqual(left);
    });

    test("a branch that is there is taken up as it is", async () => {
      const tip = await subject.commit(BRANCH, { a: "earlier\n" });
      const { root } = await worktrees.open(TASK, BASE);
      expect(await subject.filesIn(root)).toEqual(await subject.filesOf(tip));
      expect(await subject.tip(BRANCH)).toBe(tip);
    });

    test("tasks do not see each other's work", async () => {
      const [one, other] = [await worktrees.open(TASK, BASE), await worktrees.open("task-002", BASE)];
      await subject.put(one.root, "a", "work\n");
      await subject.commitIn(one.root);
      expect(await subject.filesIn(other.root)).toEqual(await subject.filesOf(start));
    });

    test("a branch that the user has checked out is refused", async () => {
      await subject.commit(BRANCH, { "new.txt": "new\n" });
      await subject.switchTo(BRANCH);
      await expect(worktrees.open(TASK, BASE)).rejects.toThrow(`the branch ${BRANCH} is checked out in`);
      await subject.switchTo(BASE);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "ready" });
    });

    test.each(["ralph", `${BRANCH}/b`])("a branch %s is in the way, and it is refused", async (name) => {
      await subject.commit(name, { "new.txt": "new\n" });
      await expect(worktrees.open(TASK, BASE)).rejects.toThrow(
        `the branch ${name} is in the way of the branch ${BRANCH}`,
      );
      expect(await worktrees.list()).toEqual([]);
    });

    test("a base that is not there is told", async () => {
      await expect(worktrees.open(TASK, "nowhere")).rejects.toThrow('"nowhere" is not a commit');
      expect(await worktrees.list()).toEqual([]);
    });
  });
}

function describeSetup(): void {
  describe("the set-up", () => {
    test("a failure is told, the checkout stays, and it is tried again", async () => {
      await subject.failSetups(true);
      const failed = await worktrees.open(TASK, BASE);
      expect(failed).toMatchObject({
        is: "failed",
        branch: BRANCH,
        why: expect.stringMatching(/./) as string,
      });
      expect(await subject.filesIn(failed.root)).toEqual(await subject.filesOf(start));
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "failed" });
      await subject.failSetups(false);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "ready", root: failed.root });
    });

    test("one that is stopped is told, and tried again", async () => {
      const stopped = await worktrees.open(TASK, BASE, AbortSignal.abort("stopped"));
      expect(stopped).toMatchObject({ is: "failed", why: expect.stringContaining("stopped") as string });
      await subject.failSetups(true);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "failed", root: stopped.root });
    });

    test("what is set up is not set up again, until it is removed", async () => {
      await worktrees.open(TASK, BASE);
      await subject.failSetups(true);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "ready" });
      expect(await worktrees.remove(TASK)).toBe(true);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "failed" });
    });

    test("at: its use is told of a failure", async () => {
      await subject.failSetups(true);
      const opened = await worktrees.at(start, (checkout) => Promise.resolve(checkout));
      expect(opened).toMatchObject({ is: "failed", why: expect.stringMatching(/./) as string });
      expect(await subject.filesIn(opened.root)).toBeNull();
    });
  });
}

function describeAt(): void {
  describe("at", () => {
    test("is a checkout of the commit, not of a task, and gone afterwards", async () => {
      await subject.commit(BASE, { b: "later\n" });
      const root = await worktrees.at(start, async (opened) => {
        expect(opened).toMatchObject({ is: "ready", copied: [] });
        expect(await subject.filesIn(opened.root)).toEqual(await subject.filesOf(start));
        expect(await worktrees.list()).toEqual([]);
        return opened.root;
      });
      expect(await subject.filesIn(root)).toBeNull();
    });

    test("is gone when its use fails", async () => {
      let root = "";
      const use = worktrees.at(start, (opened) => {
        ({ root } = opened);
        return Promise.reject(new Error("in vain"));
      });
      await expect(use).rejects.toThrow("in vain");
      expect(await subject.filesIn(root)).toBeNull();
    });

    test("two of the same commit have folders of their own", async () => {
      await worktrees.at(start, (one) =>
        worktrees.at(start, async (other) => {
          expect(one.root).not.toBe(other.root);
          expect(await subject.filesIn(one.root)).toEqual(await subject.filesIn(other.root));
        }),
      );
    });

    test("a commit that is none is told", async () => {
      const none = "f".repeat(40);
      await expect(worktrees.at(none, () => Promise.resolve())).rejects.toThrow(`"${none}" is not a commit`);
    });
  });
}

function describeList(): void {
  describe("list", () => {
    test("tells what each task has, and whether something would be lost with it", async () => {
      expect(await worktrees.list()).toEqual([]);
      const [one, two] = [await worktrees.open(TASK, BASE), await worktrees.open("task-002", BASE)];
      await subject.put(one.root, "a", "work\n");
      const head = await subject.commitIn(one.root);
      await subject.put(two.root, "new.txt", "new\n");
      const entries = (await worktrees.list()).toSorted((a, b) => a.task.localeCompare(b.task));
      expect(entries).toEqual([
        { task: TASK, root: one.root, branch: BRANCH, head, isDirty: false },
        { task: "task-002", root: two.root, branch: "ralph/task-002", head: start, isDirty: true },
      ]);
    });
  });
}

function describeRemove(): void {
  describe("remove", () => {
    test("leaves the branch, and the work comes back with it", async () => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.put(root, "a", "work\n");
      const head = await subject.commitIn(root);
      expect(await worktrees.remove(TASK)).toBe(true);
      expect(await subject.filesIn(root)).toBeNull();
      expect(await worktrees.list()).toEqual([]);
      expect(await subject.tip(BRANCH)).toBe(head);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "ready", root });
      expect(await subject.filesIn(root)).toMatchObject({ a: "work\n" });
    });

    const DEEDS: readonly [what: string, name: string, text: string | null][] = [
      ["a change", "a", "work\n"],
      ["a file that is gone", "b", null],
      ["a new file", "new.txt", "new\n"],
    ];

    test.each(DEEDS)("%s that is not committed keeps it, unless it is forced", async (_what, name, text) => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.put(root, name, text);
      const left = await subject.filesIn(root);
      expect(await worktrees.remove(TASK)).toBe(false);
      expect(await subject.filesIn(root)).toEqual(left);
      expect(await worktrees.remove(TASK, { force: true })).toBe(true);
      expect(await subject.filesIn(root)).toBeNull();
      expect(await subject.tip(BRANCH)).toBe(start);
    });

    test("a person's lock keeps it, unless it is forced", async () => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.lock(root);
      expect(await worktrees.remove(TASK)).toBe(false);
      expect(await subject.filesIn(root)).toEqual(await subject.filesOf(start));
      expect(await worktrees.remove(TASK, { force: true })).toBe(true);
      expect(await subject.filesIn(root)).toBeNull();
    });

    test("what is not there is gone", async () => {
      expect(await worktrees.remove(TASK)).toBe(true);
      await worktrees.open(TASK, BASE);
      await worktrees.remove(TASK);
      expect(await worktrees.remove(TASK, { force: true })).toBe(true);
    });
  });
}

function describeLeftovers(): void {
  describe("leftovers", () => {
    test("what a killed process left is removed, what is in use stays", async () => {
      const left = await subject.leaveBehind(start);
      expect(await subject.filesIn(left)).toEqual(await subject.filesOf(start));
      await worktrees.at(start, async ({ root }) => {
        await worktrees.clearLeftovers();
        expect(await subject.filesIn(root)).toEqual(await subject.filesOf(start));
      });
      expect(await subject.filesIn(left)).toBeNull();
    });

    test("a folder that is gone is forgotten, and the work comes back with its branch", async () => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.put(root, "a", "work\n");
      await subject.commitIn(root);
      await subject.deleteFolder(root);
      await worktrees.clearLeftovers();
      expect(await worktrees.list()).toEqual([]);
      expect(await worktrees.open(TASK, BASE)).toMatchObject({ is: "ready", root });
      expect(await subject.filesIn(root)).toMatchObject({ a: "work\n" });
    });

    test("what tasks have is left alone, as often as it is cleared", async () => {
      const { root } = await worktrees.open(TASK, BASE);
      await subject.put(root, "new.txt", "new\n");
      const left = await subject.filesIn(root);
      await worktrees.clearLeftovers();
      await worktrees.clearLeftovers();
      expect(await subject.filesIn(root)).toEqual(left);
      expect(await worktrees.list()).toMatchObject([{ task: TASK, isDirty: true }]);
    });
  });
}
