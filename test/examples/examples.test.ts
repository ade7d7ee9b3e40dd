import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const EXAMPLES = join(import.meta.dirname, "..", "..", "examples");
const PLACES = mkdtempSync(join(tmpdir(), "ralph-examples-"));
const ENV = { PATH: process.env["PATH"] ?? "", HOME: PLACES, TMPDIR: PLACES, GIT_CONFIG_NOSYSTEM: "1" };

afterAll(() => rmSync(PLACES, { recursive: true, force: true }));

interface Played {
  readonly folder: string;
  /** The verdicts in their order, as they are printed. */
  readonly verdicts: readonly string[];
  readonly stdout: string;
  readonly read: (path: string) => string;
}

const EXPECTED: Readonly<Record<string, readonly [exitCode: number, check: (played: Played) => void]>> = {
  goal: [
    0,
    ({ verdicts, folder }) => {
      expect(verdicts).toEqual(["rejected", "accepted"]);
      expect(execFileSync("sh", ["greet.sh", "Ada"], { cwd: folder, encoding: "utf8" })).toBe(
        "Hello, Ada!\n",
      );
    },
  ],
  checklist: [
    0,
    ({ verdicts, read }) => {
      expect(verdicts).toEqual(["accepted", "accepted", "accepted"]);
      expect(read("TODO.md").match(/^- \[x\]/gm)).toHaveLength(4);
    },
  ],
  "two-vendors": [
    0,
    ({ verdicts, stdout, read }) => {
      expect(verdicts).toEqual(["accepted", "continue", "accepted", "accepted"]);
      expect(stdout).toContain("goes back to the coder, with what the reviewer found");
      expect(read("divide.sh")).toContain("= 0");
    },
  ],
  lanes: [
    0,
    ({ verdicts, stdout, read }) => {
      expect(verdicts).toEqual(["accepted", "accepted", "accepted"]);
      expect(stdout.match(/merged {4}\w+/g)?.at(-1)).toBe("merged    index");
      expect(read("index.txt")).toBe("north.page\nsouth.page\n");
    },
  ],
  ci: [
    2,
    ({ stdout, read }) => {
      expect(stdout).toContain("deploy is blocked: nobody told me the name of the server");
      expect(read("VERSION")).toBe("1.0.0\n");
      expect(read("report.md")).toContain("nobody told me the name of the server");
    },
  ],
};

test("every example that plays a project is run here, and listed", () => {
  const folders = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, "ralph.toml")));
  expect(folders.toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  const list = readFileSync(join(EXAMPLES, "README.md"), "utf8");
  for (const name of folders) expect(list).toContain(`examples/${name}/run.sh`);
});

test.each(Object.entries(EXPECTED))("the example %s does what its page says", (name, [exitCode, check]) => {
  const page = readFileSync(join(EXAMPLES, name, "README.md"), "utf8");
  expect(page).toContain(`\nexamples/${name}/run.sh\n`);
  const folder = join(PLACES, name);
  const { stdout, stderr, status } = spawnSync(join(EXAMPLES, name, "run.sh"), [folder], {
    encoding: "utf8",
    env: ENV,
  });
  expect(stderr).toContain(`In ${folder}:\n`);
  expect(status).toBe(exitCode);
  const verdicts = [...stdout.matchAll(/ [✔✗·] (accepted|rejected|continue) /g)].map(([, word = ""]) => word);
  check({ folder, verdicts, stdout, read: (path) => readFileSync(join(folder, path), "utf8") });
});
