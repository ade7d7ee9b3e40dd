import { spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { stableScreen } from "../fixtures/stable-screen.ts";
import { freshDatabase } from "../support/postgres.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const JOURNEYS = join(ROOT, "examples", "journeys");

test.each(globSync("*.sh", { cwd: JOURNEYS }))("the journey %s still looks as recorded", async (script) => {
  const text = readFileSync(join(JOURNEYS, script), "utf8");
  const database = text.includes("RALPH_QUEUE_URL") ? await freshDatabase() : null;
  const seen = play(text, database && { RALPH_QUEUE_URL: database.url });
  await database?.drop();
  const record = join(JOURNEYS, `${basename(script, ".sh")}.txt`);
  if (process.env["RECORD_JOURNEYS"] === "1") writeFileSync(record, seen);
  expect(seen).toBe(readFileSync(record, "utf8"));
});

/** Types the script line by line into a shell in an empty folder; answers the screen. */
function play(script: string, more: Readonly<Record<string, string>> | null): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-journey-")));
  const [home, bin, work] = ["home", "bin", "work"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, bin, work]) mkdirSync(path);
  symlinkSync(join(ROOT, "bin", "ralph"), join(bin, "ralph"));
  const lines = script.split("\n").filter((line) => line !== "");
  const typed = lines.map((line) => (line.startsWith("#") ? say(line) : `${say(`$ ${line}`)}\n${line}`));
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "You",
    GIT_AUTHOR_EMAIL: "you@example.com",
    GIT_COMMITTER_NAME: "You",
    GIT_COMMITTER_EMAIL: "you@example.com",
    ...more,
  };
  const { stdout } = spawnSync("bash", ["-c", `exec 2>&1\n${typed.join("\n")}`], {
    cwd: work,
    env,
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true, force: true });
  return stableScreen(stdout);
}

function say(line: string): string {
  return `printf '%s\\n' '${line.replaceAll("'", String.raw`'\''`)}'`;
}
