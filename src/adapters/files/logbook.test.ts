import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { logEntry } from "../../core/views/log-entry.ts";
import { Logbook } from "./logbook.ts";

let folder: string;
let logs: string;
const troubles: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-logbook-"));
  logs = join(folder, "logs");
  mkdirSync(logs);
  troubles.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function logbook(bytesMax?: number): Logbook {
  return new Logbook(folder, {
    ...(bytesMax !== undefined && { bytesMax }),
    onTrouble: (why) => void troubles.push(why),
  });
}

function lines(): readonly { readonly message: string }[] {
  const files = readdirSync(logs).toSorted().toReversed();
  return files
    .flatMap((name) => readFileSync(join(logs, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { message: string });
}

test("a line of JSON has time, level, message and process", () => {
  logbook().write(logEntry("warn", 'a "word"\nand another', 0));
  expect(lines()).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "warn", message: 'a "word"\nand another', pid: process.pid },
  ]);
});

test("a file that is long enough is put aside, and of those the oldest goes", () => {
  const book = logbook(2_000);
  // Lines of the same length, whatever the number of the process: so it is known where a file ends.
  const padding = 20 - String(process.pid).length;
  for (let number = 0; number < 400; number += 1)
    book.write(logEntry("info", `line ${number}`.padEnd(padding), 0));
  expect(readdirSync(logs).toSorted()).toEqual([
    "ralph.log",
    "ralph.log.1",
    "ralph.log.2",
    "ralph.log.3",
    "ralph.log.4",
  ]);
  for (const name of readdirSync(logs)) expect(statSync(join(logs, name)).size).toBeLessThan(2_200);
  const kept = lines().map(({ message }) => message.trim());
  expect(kept.at(-1)).toBe("line 399");
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, at) => `line ${400 - kept.length + at}`));
});

test("several processes write at the same time, and no line is lost or torn", () => {
  const script = `
    import { Logbook } from ${JSON.stringify(join(import.meta.dirname, "logbook.ts"))};
    const book = new Logbook(process.argv[1], { bytesMax: 12_000, onTrouble: (why) => { throw new Error(why); } });
    for (let i = 0; i < 200; i += 1) book.write({ time: "", level: "info", message: process.argv[2] + i });
  `;
  const start = (name: string): string =>
    `"${process.execPath}" --input-type=module-typescript -e '${script.replaceAll("'", `'\\''`)}' "${folder}" ${name} &`;
  execFileSync("sh", ["-c", `${start("a")} ${start("b")} ${start("c")} wait`]);
  const messages = lines().map(({ message }) => message);
  expect(new Set(messages).size).toBe(600);
});

test("a link in its place is replaced, not followed", () => {
  writeFileSync(join(folder, "precious"), "");
  symlinkSync("../precious", join(logs, "ralph.log"));
  logbook().write(logEntry("info", "hello", 0));
  expect(readFileSync(join(folder, "precious"), "utf8")).toBe("");
  expect(lines()).toHaveLength(1);
});

test("what cannot be written is told once, and harms nobody", () => {
  rmSync(logs, { recursive: true });
  const book = logbook();
  for (const message of ["one", "two"]) book.write(logEntry("info", message, 0));
  expect(troubles).toEqual([expect.stringContaining("ENOENT")]);
});
