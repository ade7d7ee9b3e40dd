import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { RALPH, type HistoryEntry } from "../e2e/project.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const NODE = join(ROOT, "node_modules", ".bin", "node");
const EXAMPLES = join(ROOT, "examples", "plugins");
const PLACES = mkdtempSync(join(tmpdir(), "ralph-examples-"));
const HOME = mkdtempSync(join(tmpdir(), "ralph-home-"));

afterAll(() => {
  for (const folder of [PLACES, HOME]) rmSync(folder, { recursive: true, force: true });
});

interface Expected {
  readonly exitCode: number;
  /** Of each iteration: its verdict, and a piece of the reason. */
  readonly verdicts: readonly (readonly [verdict: string, because: string])[];
  readonly also?: (folder: string) => void;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  agents: {
    exitCode: 0,
    verdicts: [["accepted", "the work is in git"]],
    also: (folder) =>
      expect(JSON.parse(ralph(folder, "status", "--json").stdout)).toMatchObject({ cost: { usd: 0.02 } }),
  },
  sources: {
    exitCode: 0,
    verdicts: [
      ["accepted", "the work is in git"],
      ["accepted", "the work is in git"],
    ],
    also: (folder) => {
      const tickets = readFileSync(join(folder, ".ralph", "tickets.json"), "utf8");
      expect(tickets.match(/"closed"/g)).toHaveLength(2);
      expect(history(folder).map(({ task }) => task)).toEqual(["T-1", "T-2"]);
    },
  },
  beads: {
    exitCode: 0,
    verdicts: [
      ["accepted", "the work is in git"],
      ["accepted", "the work is in git"],
    ],
    also: (folder) => {
      expect(history(folder).map(({ task }) => task)).toEqual(["bd-2", "bd-1"]);
      const issues = readFileSync(join(folder, ".beads", "issues.jsonl"), "utf8");
      expect(issues.match(/"status":"\w+"/g)).toEqual([
        '"status":"closed"',
        '"status":"closed"',
        '"status":"deferred"',
      ]);
    },
  },
  analyzers: {
    exitCode: 0,
    verdicts: [
      ["challenged", "the agent only hopes that it is right (house-words/words)"],
      ["accepted", "the work is in git"],
    ],
  },
  guards: {
    exitCode: 0,
    verdicts: [
      ["rejected", "add.js has a console.log"],
      ["accepted", "the work is in git"],
    ],
  },
  "exit-rules": {
    exitCode: 0,
    verdicts: [
      ["continue", "did not say"],
      ["continue", "did not say"],
      ["continue", "there are 3 ideas"],
    ],
  },
  gates: {
    exitCode: 0,
    verdicts: [
      ["rejected", 'gate "links" failed'],
      ["accepted", "passed: links"],
    ],
    also: (folder) => {
      const checked = ralph(folder, "gates", "--json");
      expect(checked.status).toBe(0);
      expect(JSON.parse(checked.stdout)).toMatchObject([{ name: "links", status: "passed" }]);
      expect(ralph(folder, "verify", "guide").status).toBe(0);
    },
  },
  notifiers: {
    exitCode: 2,
    verdicts: [["blocked", "the key of the printer is missing"]],
    also: (folder) =>
      expect(readFileSync(join(folder, ".ralph", "pager.txt"), "utf8")).toBe(
        "print is blocked: the key of the printer is missing → ralph unblock print\n",
      ),
  },
  package: {
    exitCode: 0,
    verdicts: [
      ["rejected", "name.txt.bak is a copy"],
      ["accepted", "the work is in git"],
    ],
  },
};

test("every example is run here", () => {
  const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
});

test.each(Object.entries(EXPECTED))("the example of %s does what it is for", (kind, expected) => {
  const folder = join(PLACES, kind);
  const played = spawnSync("sh", [join(EXAMPLES, "run.sh"), kind, folder], { encoding: "utf8", env: env() });
  expect(played.stderr).toBe("");
  expect(played.status).toBe(expected.exitCode);
  const verdicts = history(folder).map(({ verdict, reasons }) => [verdict, reasons.join("; ")] as const);
  expect(verdicts).toHaveLength(expected.verdicts.length);
  for (const [at, [verdict, because]] of expected.verdicts.entries()) {
    expect(verdicts[at]?.[0]).toBe(verdict);
    expect(verdicts[at]?.[1]).toContain(because);
  }
  expected.also?.(folder);
});

test.each([
  ["from the checkout", "sh", () => join(ROOT, "examples", "library", "run.sh")],
  ["from a project that has ralph installed", NODE, () => copiedOutside("examples/library/embed.ts")],
])("the example that embeds the library runs loops, answers and reads, %s", (_, interpreter, program) => {
  const played = spawnSync(interpreter, [program()], {
    encoding: "utf8",
    env: env(),
  });
  expect(played.stderr).toBe("");
  expect(played.stdout).toContain("plan asks: In pencil or in ink?");
  expect(played.stdout).toContain("completed after 1 iterations, promise: COMPLETE");
  expect(played.stdout).toContain('refused (no-agent): there is no agent called "nobody".');
  expect(played.status).toBe(0);
});

function copiedOutside(file: string): string {
  const folder = mkdtempSync(join(PLACES, "outside-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules", "ralph"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  copyFileSync(join(ROOT, file), join(folder, "program.ts"));
  return join(folder, "program.ts");
}

function env(): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME, TMPDIR: PLACES, GIT_CONFIG_NOSYSTEM: "1" };
}

function ralph(folder: string, ...args: readonly string[]): { status: number | null; stdout: string } {
  expect(existsSync(folder)).toBe(true);
  return spawnSync(RALPH, args, { cwd: folder, encoding: "utf8", env: env() });
}

function history(folder: string): readonly HistoryEntry[] {
  return JSON.parse(ralph(folder, "history", "--json").stdout) as HistoryEntry[];
}
