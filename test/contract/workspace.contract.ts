import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CollectRequest, Snapshot, Workspace } from "../../src/engine/ports.ts";

/** A workspace with hands: what an agent or an operator may do in it. */
export interface WorkspaceSubject {
  readonly workspace: Workspace;
  /** Changes a file of that name, each time differently. */
  change(name: string): Promise<void>;
  /** Undoes every uncommitted change of that file. */
  undo(name: string): Promise<void>;
  /** The agent commits everything itself. */
  commit(): Promise<void>;
  /** The file that the tasks are in; ours to mark. */
  readonly source: string;
  dispose(): Promise<void>;
}

export function describeWorkspace(name: string, create: () => Promise<WorkspaceSubject>): void {
  describe(`the workspace of ${name}`, () => {
    let subject: WorkspaceSubject;
    let from: Snapshot;

    beforeEach(async () => {
      subject = await create();
      from = await subject.workspace.snapshot();
    });
    afterEach(() => subject.dispose());

    const collect = (over: Partial<CollectRequest> = {}): ReturnType<Workspace["collect"]> =>
      subject.workspace.collect({ ...requestFrom(from, subject.source), ...over });

    test("a snapshot stays the same while nobody commits", async () => {
      await subject.change("a");
      expect(await subject.workspace.snapshot()).toEqual(from);
    });

    test("an idle iteration has no evidence of anything", async () => {
      expect(await collect()).toMatchObject({
        headBefore: from.head,
        headAfter: from.head,
        changed: { files: 0, paths: [] },
        changedSinceTaskBegan: { files: 0, paths: [] },
        uncommitted: [],
        leftByGates: [],
        leftOut: [],
        strayedTo: null,
        marksTakenBack: [],
        tasksRemoved: [],
        phantoms: [],
        putBack: [],
        checkFiles: [],
        refusal: null,
      });
    });

    test("what the agent leaves is committed when ralph commits", async () => {
      await subject.change("a");
      const evidence = await collect();
      expect(evidence.changed.files).toBe(1);
      expect(evidence.uncommitted).toEqual([]);
      expect(evidence.headBefore).toBe(from.head);
      expect(evidence.headAfter).not.toBe(from.head);
      expect((await subject.workspace.snapshot()).head).toBe(evidence.headAfter);
    });

    test("what the agent leaves stays, and is counted, when only the agent commits", async () => {
      await subject.change("a");
      const evidence = await collect({ commit: "agent" });
      expect(evidence.changed.files).toBe(1);
      expect(evidence.uncommitted).toHaveLength(1);
      expect(evidence.headAfter).toBe(from.head);
    });

    test("the agent's own commit is counted", async () => {
      await subject.change("a");
      await subject.commit();
      const evidence = await collect({ commit: "agent" });
      expect(evidence.changed.files).toBe(1);
      expect(evidence.uncommitted).toEqual([]);
      expect(evidence.headAfter).not.toBe(from.head);
    });

    test("a change that was undone is none", async () => {
      await subject.change("a");
      await subject.undo("a");
      const evidence = await collect();
      expect(evidence.changed.files).toBe(0);
      expect(evidence.headAfter).toBe(from.head);
    });

    test("the task's change set reaches back over all its iterations", async () => {
      await subject.change("a");
      await collect();
      const second = await subject.workspace.snapshot();
      await subject.change("b");
      const evidence = await collect({ iteration: 2, from: second });
      expect(evidence.changed.files).toBe(1);
      expect(evidence.changedSinceTaskBegan.files).toBe(2);
    });

    test("an idle iteration after a busy one still shows the task's work", async () => {
      await subject.change("a");
      await collect();
      const evidence = await collect({ iteration: 2, from: await subject.workspace.snapshot() });
      expect(evidence.changed.files).toBe(0);
      expect(evidence.changedSinceTaskBegan.files).toBe(1);
    });

    test("collecting again after a crash gives the same evidence", async () => {
      await subject.change("a");
      await subject.commit();
      await subject.change("b");
      const first = await collect();
      expect(await collect()).toEqual(first);
      expect(first.changed.files).toBe(2);
    });

    test("the task source is never counted", async () => {
      await subject.change(subject.source);
      const evidence = await collect();
      expect(evidence.changed.files).toBe(0);
      expect(evidence.uncommitted).toEqual([]);
    });

    test("a mark is not counted as anybody's work", async () => {
      await subject.change(subject.source);
      await subject.workspace.commitMark({ ...requestFrom(from, subject.source), path: subject.source });
      const evidence = await collect();
      expect(evidence.changed.files).toBe(0);
      expect(evidence.changedSinceTaskBegan.files).toBe(0);
    });

    test("committing a mark a second time has nothing to commit", async () => {
      await subject.change(subject.source);
      const request = { ...requestFrom(from, subject.source), path: subject.source };
      const mark = await subject.workspace.commitMark(request);
      expect(mark).not.toBeNull();
      await subject.workspace.commitMark(request);
      expect((await subject.workspace.snapshot()).head).toBe(mark?.commit);
    });

    test("a file that the agent names and did not write is a phantom, in the order of its words", async () => {
      await subject.change("a");
      const evidence = await collect({ cited: ["b", "a", "c"] });
      expect(evidence.phantoms).toEqual(["b", "c"]);
    });

    test("what its tools wrote is a phantom only when nothing of it is there any more", async () => {
      await subject.change("a");
      expect((await collect({ written: ["scratch", "a"] })).phantoms).toEqual([]);
      expect((await collect({ cited: ["scratch"], written: ["scratch"] })).phantoms).toEqual([]);
      expect((await collect({ cited: ["scratch"], written: [] })).phantoms).toEqual(["scratch"]);
    });

    test("what an earlier iteration of the task wrote is no phantom", async () => {
      await subject.change("a");
      await collect();
      const from = await subject.workspace.snapshot();
      const evidence = await collect({
        iteration: 2,
        from,
        cited: ["a", "b"],
        earlier: { from: null, paths: ["b"] },
      });
      expect(evidence.phantoms).toEqual([]);
    });

    test("what an earlier row changed counts as long as it still stands", async () => {
      const first = from.head;
      await subject.change("a");
      await subject.commit();
      const later = await subject.workspace.snapshot();
      const request = { from: later, taskBase: later.head, iteration: 2 };
      const standing = await collect({ ...request, earlier: { from: first, paths: ["a", "gone"] } });
      expect(standing.changed.files).toBe(0);
      expect(standing.changedSinceTaskBegan).toEqual({ files: 1, paths: ["a"] });
    });

    test("the task source is no phantom, whoever wrote it", async () => {
      expect((await collect({ cited: [subject.source] })).phantoms).toEqual([]);
    });

    test("a protected file that the agent changed is put back, committed or not", async () => {
      await subject.change("a");
      await subject.change("kept");
      await subject.commit();
      const from = await subject.workspace.snapshot();
      const isProtected = (path: string): boolean => path === "kept";
      const request = { from, taskBase: from.head, isProtected };
      await subject.change("kept");
      const first = await collect(request);
      expect(first.putBack).toEqual(["kept"]);
      expect(first.changed.files).toBe(0);
      expect(first.uncommitted).toEqual([]);
      await subject.change("a");
      await subject.change("kept");
      await subject.commit();
      const second = await collect({ ...request, iteration: 2 });
      expect(second.putBack).toEqual(["kept"]);
      expect(second.changed.paths).toEqual(["a"]);
    });

    test("a protected file that the agent made is removed", async () => {
      await subject.change("a");
      const evidence = await collect({ isProtected: (path) => path === "a" });
      expect(evidence.putBack).toEqual(["a"]);
      expect(evidence.changed.files).toBe(0);
      expect(evidence.headAfter).toBe(from.head);
    });

    test("clearing leftovers where there are none changes nothing", async () => {
      await subject.change("a");
      await subject.workspace.clearLeftovers();
      expect((await collect()).changed.files).toBe(1);
    });
  });
}

export function requestFrom(from: Snapshot, source: string): CollectRequest {
  return {
    run: "0b5e1c2a-3d4f-4a6b-8c7d-9e0f1a2b3c4d",
    task: "task-001",
    iteration: 1,
    title: "Make it work",
    hooks: false,
    from,
    taskBase: from.head,
    commit: "ralph",
    ignore: [source],
    leaveAlone: [],
    leftBefore: [],
    leftBeforeTask: [],
    leftByGates: [],
    gatesRan: null,
    cited: [],
    written: [],
    earlier: { from: null, paths: [] },
    isProtected: () => false,
    gates: [],
    oldChecks: "auto",
    since: 0,
    isClaimed: true,
  };
}
