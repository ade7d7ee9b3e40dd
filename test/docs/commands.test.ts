// What the documentation tells people to type. Every `ralph …`, in blocks and in the text, is read by the program's own
// parser. Blocks of `sh` that only look or answer are performed, each line in a copy of one night's repository. Blocks
// of `console` are sessions: they are typed into the repository that their page names, and the screen is compared.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { PAGES, projectOf } from "./code-blocks.ts";
import { createPlayProject, disposeKept } from "./play-project.ts";
import { expectShown, sessionOf } from "./sessions.ts";
import type { Answered, Asked } from "./try-commands.ts";
import { isMistake, performableOf, writtenCommands } from "./written-commands.ts";

const sessions = PAGES.map((page) => ({ page, typed: sessionOf(page) })).filter(
  ({ typed }) => typed.length > 0,
);
const WRONG = ["run --bogus", "runn", "why a b", "run --mode fast", "decide --all"].map((line) =>
  line.split(" "),
);

afterAll(disposeKept);

test.concurrent.each(sessions)("what $page shows is what one sees", async ({ page, typed }) => {
  const name = projectOf(page);
  if (name === null) throw new Error(`${page} shows a session, but names no project: <!-- project: NAME -->`);
  const project = await createPlayProject(name);
  try {
    const screens = await project.type(typed.map(({ line }) => line));
    for (const [at, one] of typed.entries()) expectShown(page, one, screens[at]);
  } finally {
    project.dispose();
  }
});

test("every command is one that the program understands, and those that look succeed", async () => {
  const written = writtenCommands();
  const performable = performableOf(written);
  const night = await createPlayProject("night-over");
  const copies = performable.map(() => night.copy());
  try {
    const { parsed, performed } = ask(
      {
        parse: [...written.map(({ args }) => args), ...WRONG],
        perform: performable.map(({ args }, at) => ({ cwd: copies[at]?.folder ?? "", args })),
      },
      night.env,
    );
    const mistakes = written.flatMap((one, at) => {
      const complaint = parsed[at] ?? null;
      return complaint !== null && isMistake(one, complaint) ? [{ ...one, ...complaint }] : [];
    });
    expect(mistakes).toEqual([]);
    expect(parsed.slice(written.length)).not.toContain(null);
    const results = performable.map(({ page, line }, at) => ({ page, line, ...performed[at] }));
    expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(written.length).toBeGreaterThan(300);
    expect(results.length).toBeGreaterThan(20);
  } finally {
    for (const project of [night, ...copies]) project.dispose();
  }
});

function ask(asked: Asked, env: Readonly<Record<string, string>>): Answered {
  const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "try-commands.ts")], {
    input: JSON.stringify(asked),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...env },
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Answered;
}
