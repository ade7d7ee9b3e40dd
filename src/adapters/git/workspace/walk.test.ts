import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { openCheckout, type Checkout } from "./checkout.ts";

let repository: TemporaryRepository;
let checkout: Checkout;

beforeEach(async () => {
  repository = temporaryRepository();
  checkout = await openCheckout(repository.root, join(repository.root, ".ralph"));
});
afterEach(() => repository.dispose());

async function paths(): Promise<readonly string[]> {
  return (await checkout.walk.entries()).map(({ path }) => path);
}

test("what has begun is what is told, once", async () => {
  repository.write("a.txt", "one\n");
  checkout.walk.begin();
  await checkout.walk.settled();
  repository.write("b.txt", "two\n");
  expect(await paths()).toEqual(["a.txt"]);
  expect(await paths()).toEqual(["a.txt", "b.txt"]);
});

test("a walk before HEAD moved tells nothing any more", async () => {
  repository.write("a.txt", "one\n");
  checkout.walk.begin();
  await checkout.walk.settled();
  repository.commit();
  repository.write("b.txt", "two\n");
  expect(await paths()).toEqual(["b.txt"]);
});

test("nothing is under way before it begins", async () => {
  await checkout.walk.settled();
  expect(await paths()).toEqual([]);
});

test("a big index is written down by the first walk and then by every tenth", async () => {
  const big = await openCheckout(repository.root, join(repository.root, ".ralph"), 0);
  const index = (): string => readFileSync(join(repository.root, ".git", "index"), "latin1");
  const written: number[] = [];
  for (let walk = 1; walk <= 11; walk += 1) {
    const before = index();
    repository.write(`new-${walk}/file.txt`, "new\n");
    expect(await big.walk.entries()).toHaveLength(walk);
    if (index() !== before) written.push(walk);
  }
  expect(written).toEqual([1, 11]);
});
