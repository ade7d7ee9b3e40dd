import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import type { OwnCheckout } from "../../../engine/parallel-ports.ts";
import { createOwnCheckout } from "./own-checkout.ts";

let repository: TemporaryRepository;
let checkout: OwnCheckout;

beforeEach(() => {
  repository = temporaryRepository();
  repository.write("tracked.txt", "as committed\n");
  repository.commit("before");
  checkout = createOwnCheckout({ root: repository.root, ralphDir: join(repository.root, ".ralph") });
});
afterEach(() => repository.dispose());

const nobody = (): boolean => false;

test("nothing is told when nothing has changed, whatever lies there uncommitted", async () => {
  repository.write("mine.txt", "mine\n");
  const changed = await checkout.watch();
  expect(await changed(nobody)).toBeNull();
});

test("files that were written, changed, removed, staged or put back are told", async () => {
  repository.write("mine.txt", "mine\n");
  repository.write("staged.txt", "staged\n");
  repository.write("removed.txt", "soon gone\n");
  const changed = await checkout.watch();
  repository.write("new.txt", "new\n");
  repository.write("tracked.txt", "other\n");
  repository.write("mine.txt", "somebody else's\n");
  repository.remove("removed.txt");
  repository.git("add", "staged.txt");
  expect(await changed(nobody)).toEqual({
    head: null,
    paths: ["mine.txt", "new.txt", "removed.txt", "staged.txt", "tracked.txt"],
  });
});

test("our own folder is none of it", async () => {
  const changed = await checkout.watch();
  repository.write(".ralph/notes.md", "noted\n");
  expect(await changed(nobody)).toBeNull();
});

test("a commit is told, unless it is ours", async () => {
  const [one, two] = [await checkout.watch(), await checkout.watch()];
  repository.write("new.txt", "new\n");
  const head = repository.commit("somebody's");
  expect(await one((commit) => commit === head)).toBeNull();
  expect(await two(nobody)).toEqual({ head, paths: [] });
  const three = await checkout.watch();
  repository.write("tracked.txt", "again\n");
  const next = repository.commit("somebody's again");
  expect(await three(nobody)).toEqual({ head: next, paths: [] });
});

test("what was told once is not told again to whoever looks at the same time", async () => {
  const [one, two] = [await checkout.watch(), await checkout.watch()];
  repository.write("new.txt", "new\n");
  expect(await one(nobody)).toEqual({ head: null, paths: ["new.txt"] });
  repository.write("newer.txt", "newer\n");
  expect(await two(nobody)).toEqual({ head: null, paths: ["newer.txt"] });
  // A file that goes on changing is no news either.
  const three = await checkout.watch();
  repository.write("new.txt", "changed again\n");
  expect(await three(nobody)).toBeNull();
});
