import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTranscript, prepareLogs, readStoredTranscript } from "./transcript.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-transcript-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("writing", () => {
  test("keeps the order of the calls, and knows size and hash", async () => {
    const path = join(folder, "a.log");
    const writer = createTranscript(path);
    const parts = Array.from({ length: 50 }, (_, index) => Buffer.alloc(index * 1_000, String(index)));
    await Promise.all(parts.map((part) => writer.write(part)));
    const all = Buffer.concat(parts);
    expect(await writer.close()).toEqual({
      bytes: all.length,
      sha256: createHash("sha256").update(all).digest("hex"),
    });
    expect(readFileSync(path).equals(all)).toBe(true);
  });

  test.skipIf(!existsSync("/dev/full"))("says that the disk is full", async () => {
    const writer = createTranscript("/dev/full", openSync("/dev/full", "w"));
    await expect(writer.write(Buffer.from("x"))).rejects.toMatchObject({ code: "disk-full" });
    await expect(writer.close()).rejects.toMatchObject({ code: "disk-full" });
    await writer.abandon();
  });
});

describe("the place of a transcript", () => {
  test("is made when it is missing", async () => {
    expect(prepareLogs(join(folder, ".ralph"))).toBe(join(folder, ".ralph", "logs"));
    expect(statSync(join(folder, ".ralph", "logs")).mode & 0o777).toBe(0o700);
    await createTranscript(join(folder, ".ralph", "logs", "x.log")).close();
    expect(statSync(join(folder, ".ralph", "logs", "x.log")).mode & 0o777).toBe(0o600);
  });

  test("is refused when it is a link", async () => {
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(folder, "logs"));
    expect(() => prepareLogs(folder)).toThrow(expect.objectContaining({ code: "not-writable" }));
  });

  test("is refused when it is a file", async () => {
    writeFileSync(join(folder, "logs"), "");
    expect(() => prepareLogs(folder)).toThrow(expect.objectContaining({ code: "not-writable" }));
  });

  test("does not lead to another file through a link", async () => {
    const victim = join(folder, "victim");
    const path = join(folder, "a.log");
    writeFileSync(victim, "precious");
    symlinkSync(victim, path);
    expect(await readStoredTranscript(path)).toBeNull();
    const transcript = createTranscript(path);
    await transcript.write(Buffer.from("words"));
    await transcript.close();
    expect(readFileSync(victim, "utf8")).toBe("precious");
    expect(readFileSync(path, "utf8")).toBe("words");
  });
});

describe("reading what is left", () => {
  test("gives size, hash and the end", async () => {
    const path = join(folder, "a.log");
    const text = `${"line\n".repeat(50_000)}the end`;
    writeFileSync(path, text);
    const stored = await readStoredTranscript(path);
    expect(stored).toMatchObject({
      bytes: text.length,
      sha256: createHash("sha256").update(text).digest("hex"),
    });
    expect(stored?.tail).toMatch(/line\nthe end$/);
    expect(stored?.tail.length).toBeLessThan(20_000);
  });

  test("gives nothing where there is no file", async () => {
    expect(await readStoredTranscript(join(folder, "none.log"))).toBeNull();
    expect(await readStoredTranscript(folder)).toBeNull();
  });
});
