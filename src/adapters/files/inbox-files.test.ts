import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createInboxFiles } from "./inbox-files.ts";
import { createNotes } from "./notes.ts";

let folder: string;
let ralphDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  ralphDir = join(folder, ".ralph");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("letters", () => {
  test("a folder or a link in its place is no answer, and leads nowhere", async () => {
    const inboxFiles = createInboxFiles(ralphDir);
    mkdirSync(join(ralphDir, "blocked.txt"), { recursive: true });
    expect((await inboxFiles.read("blocked.txt"))?.text).toBe("");
    writeFileSync(join(folder, "elsewhere"), "secret");
    symlinkSync(join(folder, "elsewhere"), join(ralphDir, "decide.txt"));
    expect((await inboxFiles.read("decide.txt"))?.text).toBe("");
    await inboxFiles.publish("decide.txt", "question");
    expect(lstatSync(join(ralphDir, "decide.txt")).isSymbolicLink()).toBe(false);
    expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe("secret");
  });

  test("a name that is not a plain one is refused", async () => {
    const inboxFiles = createInboxFiles(ralphDir);
    await expect(inboxFiles.publish("../decide.txt", "x")).rejects.toThrow("not the name of a letter");
    expect(existsSync(join(folder, "decide.txt"))).toBe(false);
  });
});

describe("notes", () => {
  test("are empty where there are none", async () => {
    expect(await createNotes(ralphDir).read()).toBe("");
    mkdirSync(join(ralphDir, "progress.txt"), { recursive: true });
    expect(await createNotes(ralphDir).read()).toBe("");
  });

  test("are the whole file, or its last lines", async () => {
    mkdirSync(ralphDir);
    writeFileSync(join(ralphDir, "progress.txt"), "one\ntwo\n");
    expect(await createNotes(ralphDir).read()).toBe("one\ntwo\n");
    const lines = Array.from({ length: 5_000 }, (_, n) => `línea ${n} 🎉\n`);
    writeFileSync(join(ralphDir, "progress.txt"), lines.join(""));
    const notes = await createNotes(ralphDir).read();
    expect(notes.length).toBeLessThanOrEqual(8_000);
    expect(notes.length).toBeGreaterThan(7_900);
    expect(lines.join("").endsWith(`\n${notes}`)).toBe(true);
  });

  test("one endless line is cut between characters", async () => {
    mkdirSync(ralphDir);
    writeFileSync(join(ralphDir, "progress.txt"), `x${"🎉".repeat(20_000)}`);
    expect(await createNotes(ralphDir).read()).toMatch(/^(🎉){3,4000}$/u);
  });

  test("a link that leads out of the folder is not read", async () => {
    mkdirSync(ralphDir);
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync("../secret", join(ralphDir, "progress.txt"));
    expect(await createNotes(ralphDir).read()).toBe("");
  });
});
