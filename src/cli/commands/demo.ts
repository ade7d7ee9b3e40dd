import { driveRun } from "../../app/drive-run.ts";
import { prepareRun, requireStartable } from "../../app/prepare-run.ts";
import { ownCommand } from "../../app/run-ports.ts";
import { asArgument } from "../../core/text.ts";
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { runGitAtOnce } from "../../adapters/git/git.ts";
import { RalphError } from "../../core/errors.ts";
import { printerFor } from "../print/run-printer.ts";
import { exitCodeOf, printEnd } from "./run.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";

const READING_PAUSE_MS = 1_500;

export function define(command: Command, act: Act): void {
  command.action(act(demo));
}

/** A whole loop with the built-in agent in a repository of its own; what the person would answer, it answers itself. */
async function demo(context: CliContext): Promise<number> {
  const folder = makeSampleRepository();
  const say = (text = ""): void => void context.stdout.write(`${text}\n`);
  say(`A small JavaScript library with four tasks, in ${folder}`);
  say(
    "The agent is a scripted one: it lies once, breaks a test once, and asks a question. Watch what is believed.",
  );
  say();
  const inside = { ...context, cwd: folder, dir: undefined };
  let exitCode = await runInside(inside);
  if (exitCode === EXIT_CODES.undecided) {
    say();
    say(`Ralph has stopped, because only a person can decide this (exit code ${exitCode}).`);
    say(`The demo answers for you, below the question in .ralph/decide.txt: "${DEMO_ANSWER}"`);
    if (context.stdout.isTTY) await delay(READING_PAUSE_MS);
    appendFileSync(join(folder, ".ralph", "decide.txt"), `${DEMO_ANSWER}\n`);
    say();
    exitCode = await runInside(inside);
  }
  say();
  const ralph = ownCommand(context.cwd, context.env);
  say("Look round:");
  say(`  cd ${asArgument(folder)}`);
  say(`  ${ralph} why parse-date   # what was decided, and from what`);
  say(`  ${ralph} web              # all of it in a browser`);
  say(`  ${ralph} history          # each iteration`);
  return exitCode;
}

async function runInside(context: CliContext): Promise<number> {
  // The demo is the same whatever the person has set for their own work.
  const env = Object.fromEntries(Object.entries(context.env).filter(([name]) => !name.startsWith("RALPH_")));
  const prepared = await prepareRun(undefined, {}, { ...context, env });
  await requireStartable(prepared);
  const end = await driveRun(prepared, {
    display: printerFor(context),
    version: context.version,
    keepAwake: false,
  });
  await printEnd(end, prepared.project, false, context);
  return exitCodeOf(end);
}

function makeSampleRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-demo-"));
  for (const [path, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: string[]): void => {
    const own = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", ...args];
    const { code, stderr } = runGitAtOnce(own, { cwd: folder });
    if (code !== 0)
      throw new RalphError("git-failed", `git ${args[0]} failed in ${folder}: ${stderr.trim()}`);
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--no-verify", "--message", "A small library with four tasks to do");
  return folder;
}

/** What the demo answers to the agent's question. */
const DEMO_ANSWER = "iso";

const TODO = `# A tiny date library

- [ ] **leap-years**: isLeapYear knows the century rule
  - 1900 is no leap year, 2000 is one
- [ ] **parse-date**: parseDate understands 2024-02-29
  - days that do not exist are refused
- [ ] **days-between**: daysBetween counts the days from one date to another
- [ ] **format-date**: formatDate prints a date
`;

const DATES_START = `export function isLeapYear(year) {
  return year % 4 === 0;
}
`;

const LEAP_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { isLeapYear } from "../dates.js";

test("every fourth year is a leap year", () => {
  assert.equal(isLeapYear(2024), true);
  assert.equal(isLeapYear(2023), false);
});
`;

const LEAP = `export function isLeapYear(year) {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
`;

const CENTURY_TEST = `
test("centuries are leap years only every four hundred years", () => {
  assert.equal(isLeapYear(1900), false);
  assert.equal(isLeapYear(2000), true);
});
`;

const PARSE = `
export function parseDate(text) {
  const [year, month, day] = text.split("-").map(Number);
  const lengths = [31, isLeapYear(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  if (!(day >= 1 && day <= lengths[month - 1])) throw new RangeError(\`no such day: \${text}\`);
  return { year, month, day };
}
`;

const PARSE_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../dates.js";

test("the last day of February depends on the year", () => {
  assert.deepEqual(parseDate("2024-02-29"), { year: 2024, month: 2, day: 29 });
  assert.throws(() => parseDate("2023-02-29"), /no such day/);
});
`;

const DAYS_WRONG = `
export function daysBetween(from, to) {
  return (to.year - from.year) * 365 + (to.month - from.month) * 30 + (to.day - from.day);
}
`;

const DAYS_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { daysBetween, parseDate } from "../dates.js";

test("across the end of February in a leap year", () => {
  assert.equal(daysBetween(parseDate("2024-02-28"), parseDate("2024-03-01")), 2);
});
`;

const REMOVE_DAYS = "sed -i.old '/function daysBetween/,$d' dates.js && rm dates.js.old";

const DAYS = `export function daysBetween(from, to) {
  const time = (date) => Date.UTC(date.year, date.month - 1, date.day);
  return (time(to) - time(from)) / 86_400_000;
}
`;

const FORMAT = `
export function formatDate({ year, month, day }) {
  return [year, String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
}
`;

const FORMAT_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDate } from "../dates.js";

test("a date is printed the ISO way", () => {
  assert.equal(formatDate({ year: 2024, month: 2, day: 9 }), "2024-02-09");
});
`;

/** What the scripted agent does, task by task, iteration by iteration. */
const SCRIPT = {
  tasks: {
    "leap-years": [
      [
        { say: "I will add the century rule and a test for it." },
        { sleep: 400 },
        { write: { path: "dates.js", text: LEAP } },
        { append: { path: "test/leap.test.js", text: CENTURY_TEST } },
        { say: "Wrote dates.js and test/leap.test.js." },
        { promise: "COMPLETE" },
      ],
    ],
    "parse-date": [
      [
        { say: "I have implemented parseDate with full validation. All tests pass!" },
        { sleep: 400 },
        { promise: "COMPLETE" },
      ],
      [
        { say: "Right: I had written nothing. Now I write it." },
        { sleep: 400 },
        { append: { path: "dates.js", text: PARSE } },
        { write: { path: "test/parse.test.js", text: PARSE_TEST } },
        { promise: "COMPLETE" },
      ],
    ],
    "days-between": [
      [
        { say: "Counting days is a subtraction." },
        { sleep: 400 },
        { append: { path: "dates.js", text: DAYS_WRONG } },
        { write: { path: "test/days.test.js", text: DAYS_TEST } },
        { promise: "COMPLETE" },
      ],
      [
        { expectPrompt: "across the end of February" },
        { say: "The test output shows it: not every month has thirty days." },
        { sleep: 400 },
        { shell: REMOVE_DAYS },
        { append: { path: "dates.js", text: DAYS } },
        { promise: "COMPLETE" },
      ],
    ],
    "format-date": [
      [
        { say: "There are two good ways to print a date." },
        { sleep: 300 },
        { decide: "Print dates the ISO way or the local way? | iso | local" },
      ],
      [
        { expectPrompt: `The answer: ${DEMO_ANSWER}` },
        { say: "ISO it is. First the function." },
        { sleep: 300 },
        { append: { path: "dates.js", text: FORMAT } },
        { commit: "Print dates the ISO way" },
        { say: "Next: a test." },
      ],
      [
        { sleep: 300 },
        { write: { path: "test/format.test.js", text: FORMAT_TEST } },
        { say: "Added test/format.test.js." },
        { promise: "COMPLETE" },
      ],
    ],
  },
};

/** The files of the throw-away repository. */
const DEMO_FILES: Readonly<Record<string, string>> = {
  "TODO.md": TODO,
  "package.json": `${JSON.stringify({ name: "tiny-dates", type: "module", private: true }, null, 2)}\n`,
  "dates.js": DATES_START,
  "test/leap.test.js": LEAP_TEST,
  ".ralph/ralph.toml": `agent = "demo"\n\n[agents.demo]\nscript = ".ralph/demo-script.json"\n\n[[gates]]\nname = "tests"\ncommand = "node --test"\n`,
  ".ralph/demo-script.json": `${JSON.stringify(SCRIPT, null, 2)}\n`,
};
