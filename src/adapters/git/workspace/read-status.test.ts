import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../../test/fixtures/temporary-repository.ts";
import { openCheckout, readStatus } from "./checkout.ts";

let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
  repository.write(".gitignore", "*.log\nbuild/\n");
  repository.write("old/kept.txt", "kept\n");
  repository.commit();
});
afterEach(() => repository.dispose());

/** What a repository with an index of any size shows: small ones are asked file by file. */
async function statusWhere(bigIndexBytes: number, mayRefresh = true): Promise<readonly string[]> {
  const checkout = await openCheckout(repository.root, ".ralph", bigIndexBytes);
  return (await readStatus(checkout, { mayRefresh })).map((entry) => JSON.stringify(entry)).toSorted();
}

async function bigAndSmall(): Promise<readonly string[]> {
  const big = await statusWhere(0);
  expect(big).toEqual(await statusWhere(Infinity));
  return big;
}

function readIndex(): string {
  return readFileSync(join(repository.root, ".git", "index"), "latin1");
}

describe("a big repository", () => {
  test("shows the same as a small one, whatever is new in it", async () => {
    repository.write("one.txt", "new\n");
    repository.write("old/two.txt", "new\n");
    repository.write("new/three.txt", "new\n");
    repository.write("new/deep/er/four.txt", "new\n");
    repository.write("new/ignored.log", "ignored\n");
    repository.write("new/build/out.js", "ignored\n");
    repository.write("only-ignored/x.log", "ignored\n");
    repository.write("glob*[a]/five.txt", "new\n");
    repository.write("globs/not-meant.log", "ignored\n");
    repository.write("spaced name/ ü.txt", "new\n");
    mkdirSync(join(repository.root, "empty"));
    repository.write("old/kept.txt", "changed\n");
    repository.remove("README.md");
    for (const nested of ["nested", "new/nested"]) {
      repository.write(`${nested}/inner.txt`, "inner\n");
      repository.git("-C", nested, "init", "-q");
    }
    const seen = await bigAndSmall();
    expect(seen.join("\n")).toContain('"new/deep/er/four.txt"');
    expect(seen.join("\n")).toContain('"new/nested/"');
  });

  test("shows the files of a folder whose name is not UTF-8", async () => {
    const folder = Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/file.txt")]), "new\n");
    expect((await bigAndSmall()).join("\n")).toContain("file.txt");
  });

  test("shows more new folders than a command line has room for", async () => {
    for (let number = 0; number < 250; number += 1) repository.write(`new-${number}/file.txt`, "new\n");
    expect(await bigAndSmall()).toHaveLength(250);
  });

  test("shows a file in a folder that looked empty, also when the folder's date is set back", async () => {
    expect(await bigAndSmall()).toEqual([]);
    const folder = join(repository.root, "old");
    const { atime, mtime, ctimeMs } = statSync(folder);
    // Git compares whole seconds.
    await expect.poll(() => Date.now()).toBeGreaterThan(Math.ceil(ctimeMs / 1_000) * 1_000);
    repository.write("old/hidden.txt", "new\n");
    utimesSync(folder, atime, mtime);
    expect(await bigAndSmall()).toHaveLength(1);
  });

  test("knows at once what is ignored from now on, and what no longer", async () => {
    repository.write("old/hidden.txt", "new\n");
    expect(await bigAndSmall()).toHaveLength(1);
    repository.write("old/.gitignore", "hidden.txt\n.gitignore\n");
    expect(await bigAndSmall()).toEqual([]);
    repository.remove("old/.gitignore");
    expect(await bigAndSmall()).toHaveLength(1);
  });

  test("remembers what it saw, in the same way as everybody's git", async () => {
    repository.write("new/one.txt", "new\n");
    await statusWhere(0);
    const written = readIndex();
    expect(written).toContain("UNTR");
    repository.git("status");
    expect(readIndex()).toBe(written);
    await statusWhere(0);
    expect(readIndex()).toBe(written);
  });

  test.each(["false", "no", "off", "0"])(
    "remembers nothing where core.untrackedCache is %s",
    async (value) => {
      repository.git("config", "core.untrackedCache", value);
      repository.write("new/one.txt", "new\n");
      await bigAndSmall();
      expect(readIndex()).not.toContain("UNTR");
    },
  );

  test("writes nothing when it may not", async () => {
    const before = readIndex();
    repository.write("new/one.txt", "new\n");
    await statusWhere(0, false);
    expect(readIndex()).toBe(before);
  });
});
