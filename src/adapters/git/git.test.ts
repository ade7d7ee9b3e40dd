import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { createGit } from "./git.ts";

const { PATH } = process.env;
let repository: TemporaryRepository;

beforeEach(() => {
  repository = temporaryRepository();
});
afterEach(() => {
  process.env["PATH"] = PATH;
  repository.dispose();
});

test("a failure is one sentence with git's own reason", async () => {
  const git = createGit(repository.root);
  await expect(git.must(["rev-parse", "--verify", "nothing"])).rejects.toMatchObject({
    code: "git-failed",
    message: "git rev-parse failed: Needed a single revision",
  });
  expect((await git.run(["rev-parse", "--verify", "nothing"])).code).toBe(128);
});

test("a machine without git is told to install it", async () => {
  process.env["PATH"] = "/nonexistent";
  await expect(createGit(repository.root).must(["status"])).rejects.toMatchObject({
    code: "no-git",
    message: "git is not installed, or not in PATH",
    hint: expect.stringContaining("install git"),
  });
});

test("a full disk is known by its name", async () => {
  const git = createGit(repository.root);
  const full = ["-c", "alias.full=!echo 'fatal: write error: No space left on device' >&2; exit 128", "full"];
  await expect(git.run(full)).rejects.toMatchObject({ code: "disk-full" });
});

test("records come whole, however they are cut into chunks", async () => {
  for (let n = 0; n < 3_000; n += 1) repository.write(`many/${"x".repeat(50)}-${n}`, "");
  const records = await createGit(repository.root).records(["ls-files", "-z", "--others"]);
  expect(records).toHaveLength(3_000);
  expect(records.every((record) => /^many\/x{50}-\d+$/.test(record))).toBe(true);
});

test("a child of a hook that holds the output does not hold us", async () => {
  const started = performance.now();
  const { stdout } = await createGit(repository.root).run(["-c", "alias.lazy=!sleep 40 & echo done", "lazy"]);
  expect(stdout).toBe("done\n");
  expect(performance.now() - started).toBeLessThan(40_000);
});
