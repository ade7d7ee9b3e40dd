import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TextPage } from "../../core/views/overview.ts";
import type { IterationTexts } from "../../engine/ports.ts";
import { createIterationTexts } from "./iteration-texts.ts";

let folder: string;
let texts: IterationTexts;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-texts-"));
  mkdirSync(join(folder, "logs"));
  texts = createIterationTexts(folder, (text) => text.replaceAll("hunter22", "[redacted]"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (content: string | Buffer, name = "iteration-007.log"): void =>
  writeFileSync(join(folder, "logs", name), content);

async function read(from: number, limit: number): Promise<TextPage> {
  const piece = await texts.read(7, "transcript", from, limit);
  expect(piece).not.toBeNull();
  return piece!;
}

/** Every piece, from the first byte to the last. */
async function readAll(limit: number): Promise<string> {
  let all = "";
  for (let from = 0; ;) {
    const { text, to, bytes } = await read(from, limit);
    all += text;
    if (to === bytes) return all;
    expect(to).toBeGreaterThan(from);
    from = to;
  }
}

describe("reading", () => {
  test("a text that is not there is null", async () => {
    expect(await texts.bytes(7, "transcript")).toBeNull();
    expect(await texts.read(7, "transcript", 0, 100)).toBeNull();
    expect(await texts.search(7, "x", AbortSignal.timeout(9_000))).toBeNull();
  });

  test("a piece, and where the next begins", async () => {
    write("0123456789");
    expect(await texts.bytes(7, "transcript")).toBe(10);
    expect(await read(2, 4)).toEqual({ from: 2, to: 6, bytes: 10, text: "2345" });
    expect(await read(8, 4)).toEqual({ from: 8, to: 10, bytes: 10, text: "89" });
    expect(await read(99, 4)).toEqual({ from: 10, to: 10, bytes: 10, text: "" });
  });

  test("from the end", async () => {
    write("0123456789");
    expect(await read(-3, 100)).toEqual({ from: 7, to: 10, bytes: 10, text: "789" });
    expect(await read(-99, 4)).toEqual({ from: 0, to: 4, bytes: 10, text: "0123" });
  });

  test.each([4, 5, 6, 7, 16, 33])("no character is cut in two by pieces of %i bytes", async (limit) => {
    const text = "aé漢🐎\r\nžluťoučký kůň ".repeat(30);
    write(text);
    expect(await readAll(limit)).toBe(text);
  });

  test.each([16, 17, 19, 23, 40])("no escape is left over between pieces of %i bytes", async (limit) => {
    write("\u001b[1;31mred\u001b[0m and \u001b[38;5;200mpink\u001b[0m, ".repeat(30));
    expect(await readAll(limit)).toBe("red and pink, ".repeat(30));
  });

  test("a beginning in the middle of a character or an escape moves behind it", async () => {
    write("a🐎b\u001b[1;31mc");
    expect(await read(3, 100)).toMatchObject({ from: 5, text: "bc" });
    expect(await read(9, 100)).toMatchObject({ from: 13, text: "c" });
  });

  test("what is no UTF-8 is shown as far as it goes", async () => {
    write(Buffer.concat([Buffer.from("ab"), Buffer.alloc(50, 0x80), Buffer.from("cd")]));
    expect((await readAll(16)).replaceAll("\uFFFD", "")).toBe("abcd");
  });

  test("of a text of five gigabytes the end is at hand", async () => {
    const size = 5 * 1024 ** 3;
    write("");
    truncateSync(join(folder, "logs", "iteration-007.log"), size);
    appendFileSync(join(folder, "logs", "iteration-007.log"), "the end");
    expect(await read(-7, 100)).toEqual({ from: size, to: size + 7, bytes: size + 7, text: "the end" });
  });

  test("a secret that got there is taken out", async () => {
    write("the password is hunter22");
    expect((await read(0, 100)).text).toBe("the password is [redacted]");
  });
});

describe("places", () => {
  test("a prompt lies beside its transcript", async () => {
    write("do it", "iteration-007.prompt.md");
    expect((await texts.read(7, "prompt", 0, 100))?.text).toBe("do it");
    expect(await texts.bytes(7, "transcript")).toBeNull();
  });

  test("what is gone is found in the archive of a list", async () => {
    for (const [name, text] of [
      ["2026-01-01-a", "old"],
      ["2026-02-01-b", "new"],
    ] as const) {
      mkdirSync(join(folder, "archive", name, "logs"), { recursive: true });
      writeFileSync(join(folder, "archive", name, "logs", "iteration-007.log"), text);
    }
    expect((await read(0, 100)).text).toBe("new");
    write("own");
    expect((await read(0, 100)).text).toBe("own");
  });

  test("a link is not followed, nor a folder that leads outside", async () => {
    const outside = mkdtempSync(join(tmpdir(), "ralph-outside-"));
    writeFileSync(join(outside, "iteration-007.log"), "secret");
    symlinkSync(join(outside, "iteration-007.log"), join(folder, "logs", "iteration-007.log"));
    expect(await texts.read(7, "transcript", 0, 100)).toBeNull();
    rmSync(join(folder, "logs"), { recursive: true });
    symlinkSync(outside, join(folder, "logs"));
    expect(await texts.read(7, "transcript", 0, 100)).toBeNull();
    rmSync(outside, { recursive: true });
  });
});

describe("entries", () => {
  const lines = readFileSync(
    join(import.meta.dirname, "../../../test/recordings/claude/success.jsonl"),
    "utf8",
  );
  const page = async (from: number, limit: number) => {
    const found = await texts.entries(7, from, limit);
    expect(found).not.toBeNull();
    return found!;
  };

  test("come in pages of whole lines, and a call is complete on the page where it begins", async () => {
    write(lines);
    const titles: string[] = [];
    for (let from = 0, pages = 0; ; pages += 1) {
      const { entries, to, isEnd } = await page(from, 1_500);
      titles.push(...entries.map(({ title, state }) => `${state} ${title.split("\n")[0]}`));
      if (isEnd) {
        expect(pages).toBeGreaterThan(2);
        break;
      }
      from = to;
    }
    expect(titles).toEqual([
      "good Model claude-opus-5-5",
      "good I will create the file.",
      "good Write NOTE.md",
      "good Now I commit.",
      'good Run git add -A && git commit -q -m "feat: add NOTE.md" && git log --oneline | head -1',
      "good All work is finished.",
      "good Ended · 3,900 tokens in, 1,500 from the cache, 123 out",
    ]);
  });

  test("that are under way come again with the next page", async () => {
    const [start = "", end = ""] = [lines.split("\n").slice(0, 3), lines.split("\n").slice(3, 4)].map(
      (part) => `${part.join("\n")}\n`,
    );
    write(start);
    const first = await page(0, 64_000);
    expect(first).toMatchObject({ isEnd: true, bytes: start.length });
    expect(first.entries.at(-1)).toMatchObject({ title: "Write NOTE.md", state: "open", place: first.to });
    write(start + end);
    const second = await page(first.to, 64_000);
    expect(second).toMatchObject({ isEnd: true, to: Buffer.byteLength(start + end) });
    expect(second.entries).toMatchObject([{ title: "Write NOTE.md", state: "good" }]);
  });

  test("begin with the first whole line from a place on, counted from the end as well", async () => {
    write("one\ntwo\nthree\n");
    expect(await page(1, 100)).toMatchObject({ from: 4, bytes: 14, isEnd: true });
    expect(await page(4, 100)).toMatchObject({ from: 4, bytes: 14, isEnd: true });
    expect((await page(-7, 100)).entries.map(({ title }) => title)).toEqual(["three\n"]);
    expect(await page(99, 100)).toMatchObject({ from: 14, to: 14, isEnd: true, entries: [] });
  });

  test("of an event that is not yet whole wait for its rest", async () => {
    write(`${lines.split("\n").slice(0, 2).join("\n")}\n{"type":"assist`);
    const { entries, to, bytes, isEnd } = await page(0, 64_000);
    expect(entries.map(({ kind }) => kind)).toEqual(["note", "text"]);
    expect([isEnd, bytes - to]).toEqual([true, 15]);
  });

  test("have no secret", async () => {
    write(lines.replaceAll("a52f4b0", "hunter22"));
    const { entries } = await page(0, 64_000);
    expect(JSON.stringify(entries)).toContain("[redacted] feat: add NOTE.md");
    expect(JSON.stringify(entries)).not.toContain("hunter22");
  });

  test("of a text of five gigabytes are at hand at its end", async () => {
    const size = 5 * 1024 ** 3;
    write("");
    truncateSync(join(folder, "logs", "iteration-007.log"), size);
    appendFileSync(join(folder, "logs", "iteration-007.log"), "\nthe end\n");
    expect((await page(-8, 100)).entries).toMatchObject([{ title: "the end\n" }]);
  });
});

describe("searching", () => {
  const search = async (words: string) => (await texts.search(7, words, new AbortController().signal)) ?? [];

  test("finds lines in any case, each with the place of its entry", async () => {
    write(`${"first\n".repeat(12)}the Word is é here\nnothing\nsword`);
    expect(await search("WORD")).toEqual([
      { at: 60, line: "the Word is é here" },
      { at: 60, line: "sword" },
    ]);
    expect(await search("absent")).toEqual([]);
  });

  test("looks through escapes, and shows none", async () => {
    write("\u001b[31mre\u001b[32md\u001b[0m line");
    expect(await search("red")).toEqual([{ at: 0, line: "red line" }]);
  });

  test("goes through a text of many pieces, over their borders, and finds each place once", async () => {
    const line = `${"x".repeat(99)}\n`;
    write(`${line.repeat(5_242)}needle one\n${line.repeat(9_000)}needle two`);
    expect(await search("needle")).toEqual([
      { at: 524_000, line: "needle one" },
      { at: 1_423_911, line: "needle two" },
    ]);
  });

  test("goes through a line of any length, and shows what stands around", async () => {
    write(`${"y".repeat(65_530)}needle${"z".repeat(400_000)}needle${"z".repeat(100)}`);
    const hits = await search("needle");
    expect(hits).toHaveLength(2);
    expect(hits[1]?.line).toContain("needle");
    expect(hits[0]?.line.length).toBeLessThanOrEqual(300);
  });

  test("finds the words of a call by what it was given and what came of it, and not in the keys of its event", async () => {
    write(readFileSync(join(import.meta.dirname, "../../../test/recordings/claude/success.jsonl")));
    expect((await search("tool_use")).length).toBe(0);
    expect(await search("A52F4B0")).toEqual([{ at: 5_500, line: "a52f4b0 feat: add NOTE.md" }]);
  });

  test("stops after two hundred, and when nobody waits any more", async () => {
    write("word\n".repeat(1_000));
    expect(await search("word")).toHaveLength(200);
    await expect(texts.search(7, "word", AbortSignal.abort())).rejects.toThrow("aborted");
  });
});
