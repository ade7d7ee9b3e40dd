import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OwnCheckout } from "../../src/engine/parallel-ports.ts";
import { BASE, type RepositoryHands } from "./repository-hands.ts";

export interface OwnCheckoutSubject extends RepositoryHands {
  readonly checkout: OwnCheckout;
}

const nobody = (): boolean => false;

export function describeOwnCheckout(name: string, create: () => Promise<OwnCheckoutSubject>): void {
  describe(`the user's own checkout in ${name}`, () => {
    let subject: OwnCheckoutSubject;
    const put = (file: string, text: string | null): Promise<void> => subject.put(subject.root, file, text);

    beforeEach(async () => {
      subject = await create();
      await subject.commit(BASE, { a: "a\n", b: "b\n" });
    });
    afterEach(() => subject.dispose());

    test("nothing is told when nothing has changed, whatever lies there", async () => {
      await put("a", "a person's\n");
      await put("mine.txt", "mine\n");
      const changed = await subject.checkout.watch();
      expect(await changed(nobody)).toBeNull();
    });

    test("what is not committed there, and was not so before, is told", async () => {
      await put("mine.txt", "mine\n");
      const changed = await subject.checkout.watch();
      await put("a", "somebody's\n");
      await put("b", null);
      await put("mine.txt", "somebody's\n");
      await put("new.txt", "new\n");
      expect(await changed(nobody)).toEqual({ head: null, paths: ["a", "b", "mine.txt", "new.txt"] });
    });

    test("what was not committed there, and is no more, is told", async () => {
      await put("a", "a person's\n");
      await put("mine.txt", "mine\n");
      const changed = await subject.checkout.watch();
      await put("a", "a\n");
      await put("mine.txt", null);
      expect(await changed(nobody)).toEqual({ head: null, paths: ["a", "mine.txt"] });
    });

    test("a change that was undone is none", async () => {
      const changed = await subject.checkout.watch();
      await put("a", "somebody's\n");
      await put("a", "a\n");
      expect(await changed(nobody)).toBeNull();
    });

    test("a commit is told, unless it is ours", async () => {
      const [one, two] = [await subject.checkout.watch(), await subject.checkout.watch()];
      const head = await subject.commit(BASE, { a: "work\n" });
      expect(await one((commit) => commit === head)).toBeNull();
      expect(await two(nobody)).toEqual({ head, paths: [] });
    });

    test("what somebody commits is told as a commit, not path by path", async () => {
      await put("a", "a person's\n");
      const changed = await subject.checkout.watch();
      const head = await subject.commit(BASE, { a: "a person's\n" });
      expect(await changed(nobody)).toEqual({ head, paths: [] });
    });

    test("a path that comes with a commit of ours is told", async () => {
      const changed = await subject.checkout.watch();
      await subject.commit(BASE, { a: "work\n" });
      await put("b", "somebody's\n");
      expect(await changed(() => true)).toEqual({ head: null, paths: ["b"] });
    });

    test("a commit on another branch is no change here", async () => {
      const changed = await subject.checkout.watch();
      await subject.commit("ralph/task-001", { a: "work\n" });
      expect(await changed(nobody)).toBeNull();
    });

    test("a path is told once, to whoever asks first", async () => {
      const [one, two] = [await subject.checkout.watch(), await subject.checkout.watch()];
      await put("a", "somebody's\n");
      expect(await one(nobody)).toEqual({ head: null, paths: ["a"] });
      expect(await one(nobody)).toBeNull();
      await put("b", "somebody's\n");
      expect(await two(nobody)).toEqual({ head: null, paths: ["b"] });
      const three = await subject.checkout.watch();
      await put("a", "more\n");
      expect(await three(nobody)).toBeNull();
    });

    test("a commit is told once, the next one again", async () => {
      const [one, two] = [await subject.checkout.watch(), await subject.checkout.watch()];
      const head = await subject.commit(BASE, { a: "somebody's\n" });
      expect(await one(nobody)).toEqual({ head, paths: [] });
      expect(await two(nobody)).toBeNull();
      const next = await subject.commit(BASE, { a: "more\n" });
      expect(await two(nobody)).toEqual({ head: next, paths: [] });
    });
  });
}
