import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PullRequest, PullRequests } from "../../src/engine/parallel-ports.ts";
import { BASE, type RepositoryHands } from "./repository-hands.ts";

export interface PullRequestsSubject extends RepositoryHands {
  readonly pullRequests: PullRequests;
  /** From now on there is no place that pull requests could go to. */
  disconnect(): Promise<void>;
  /** Whether that place refuses to open one, from now on. */
  refuse(refuse: boolean): Promise<void>;
  /** What was pushed there; null when the branch was not. */
  pushed(branch: string): Promise<string | null>;
}

const BRANCH = "ralph/task-001";

export function describePullRequests(name: string, create: () => Promise<PullRequestsSubject>): void {
  describe(`pull requests of ${name}`, () => {
    let subject: PullRequestsSubject;
    let tip: string;

    beforeEach(async () => {
      subject = await create();
      await subject.commit(BASE, { a: "a\n" });
      tip = await subject.commit(BRANCH, { a: "work\n" });
    });
    afterEach(() => subject.dispose());

    const propose = async (branch = BRANCH, commit?: string): Promise<PullRequest> =>
      subject.pullRequests.propose({
        commit: commit ?? (await subject.tip(branch)) ?? "",
        branch,
        base: BASE,
        title: "task-001: Make it work",
        body: "It works.",
        hooks: false,
      });

    test("they are usable where one could be opened, and refused where none could", async () => {
      await subject.pullRequests.requireUsable(BASE);
      await subject.disconnect();
      await expect(subject.pullRequests.requireUsable(BASE)).rejects.toMatchObject({ code: "config" });
    });

    test("the branch is pushed, and has an address", async () => {
      expect(await subject.pushed(BRANCH)).toBeNull();
      expect(await propose()).toEqual({ is: "proposed", url: expect.stringMatching(/^https:/) as string });
      expect(await subject.pushed(BRANCH)).toBe(tip);
      expect(await subject.pushed(BASE)).toBeNull();
      expect(await subject.tip(BRANCH)).toBe(tip);
    });

    test("proposed again it is the same, also with more work, which is pushed", async () => {
      const first = await propose();
      expect(await propose()).toEqual(first);
      const more = await subject.commit(BRANCH, { a: "more work\n" });
      expect(await propose()).toEqual(first);
      expect(await subject.pushed(BRANCH)).toBe(more);
    });

    test("what is pushed is the accepted commit, wherever the branch is by now", async () => {
      await subject.commit(BRANCH, { a: "nobody accepted that\n" });
      await propose(BRANCH, tip);
      expect(await subject.pushed(BRANCH)).toBe(tip);
    });

    test("each branch has its own", async () => {
      await subject.commit("ralph/task-002", { b: "work\n" });
      expect(await propose("ralph/task-002")).not.toEqual(await propose());
    });

    test("a refusal is told in words, and it may be tried again", async () => {
      await subject.refuse(true);
      expect(await propose()).toEqual({ is: "refused", why: expect.stringMatching(/./) as string });
      await subject.refuse(false);
      expect(await propose()).toMatchObject({ is: "proposed" });
      expect(await subject.pushed(BRANCH)).toBe(tip);
    });
  });
}
