import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startRalph, type Finished } from "./project.ts";

interface Range {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

interface Printed {
  readonly schema: string;
  readonly targets: readonly { readonly measure: string; readonly met: boolean }[];
  readonly variants: readonly {
    readonly name: string;
    readonly features: readonly string[];
    readonly measures: Readonly<Record<string, Range | null>>;
  }[];
  readonly parameters: readonly {
    readonly name: string;
    readonly source: string;
    readonly sentence: string;
  }[];
}

describe("ralph eval", () => {
  /** It needs no project: this folder is no repository. */
  const folder = mkdtempSync(join(tmpdir(), "ralph-eval-"));
  const ralph = (...args: string[]): Promise<Finished> =>
    startRalph(folder, { PATH: process.env["PATH"] ?? "", HOME: folder }, ["eval", ...args]).finished;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("prints a table of every variant with its targets, the same for the same seed", async () => {
    const [first, again, other] = await Promise.all([
      ralph("--seeds", "2", "--seed", "5", "--iterations", "50"),
      ralph("--seeds", "2", "--seed", "5", "--iterations", "50"),
      ralph("--seeds", "2", "--seed", "6", "--iterations", "50"),
    ]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^2 imagined projects of 43 tasks, at most 50 iterations each, seed 5/);
    expect(first.stdout).toMatch(/^production +55 +44 +45/m);
    for (const name of ["baseline", "only timeouts", "without gates", "everything"])
      expect(first.stdout).toMatch(new RegExp(`^${name} +\\d+ \\(\\d+–\\d+\\)`, "m"));
    expect(first.stdout).toMatch(/^✔ {2}false completions accepted +\d\.\d/m);
    expect(again.stdout).toBe(first.stdout);
    expect(other.stdout).not.toBe(first.stdout);
  });

  test("prints JSON with intervals, targets, and where each number of the model comes from", async () => {
    const { code, stdout } = await ralph("--seeds", "2", "--iterations", "50", "--json");
    expect(code).toBe(0);
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).toMatchObject({
      schema: "ralph.eval.v1",
      seed: 1,
      seeds: 2,
      iterations: 50,
    });
    expect(printed.variants).toHaveLength(20);
    expect(printed.variants[0]).toMatchObject({ name: "baseline", features: [] });
    const { ui_blocked: blocked } = printed.variants[0]!.measures;
    expect(blocked!.low).toBeLessThanOrEqual(blocked!.mean);
    expect(blocked!.high).toBeGreaterThanOrEqual(blocked!.mean);
    expect(printed.targets.map(({ measure }) => measure)).toEqual([
      "ui_blocked",
      "wasted",
      "ui_truly_completed",
      "false_accepted",
      "honest_rejected",
    ]);
    expect(new Set(printed.parameters.map(({ source }) => source))).toEqual(
      new Set(["known", "derived", "assumed"]),
    );
    for (const { sentence } of printed.parameters) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test("is bounded by its iterations; what nobody came to is not measured", async () => {
    const { stdout } = await ralph("--seeds", "1", "--iterations", "12", "--json");
    const printed = JSON.parse(stdout) as Printed;
    for (const { measures } of printed.variants)
      expect(measures).toMatchObject({ iterations: { mean: 12 }, ui_blocked: null, ui_completed: null });
    const alone = (await ralph("--seeds", "1", "--iterations", "12")).stdout;
    expect(alone).toMatch(/^–\s+UI tasks blocked +– +\(target/m);
    expect(alone).toMatch(/^everything +– +0 +–/m);
    expect(alone).toContain("One project says little");
  });

  test("writes one page without scripts or anything from elsewhere", async () => {
    const file = join(folder, "eval.html");
    const { code, stdout, stderr } = await ralph(
      "--seeds",
      "1",
      "--iterations",
      "40",
      "--html",
      "--out",
      file,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(file);
    const page = readFileSync(file, "utf8");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|<object|\son\w+=|https?:|@import/i);
    expect(page.match(/<svg class="chart"/g)).toHaveLength(8);
    expect(page).toContain("ralph eval --seed 1 --seeds 1 --iterations 40 --html");
  });

  test.each([
    [["--seeds", "0"], '--seeds is "0"; expected a whole number from 1 to 1000'],
    [["--iterations", "many"], '--iterations is "many"; expected a whole number from 1 to 100000'],
    [["--seed", "-1"], '--seed is "-1"; expected a whole number from 1 to 1000000'],
    [["--json", "--html"], "--json and --html are two forms; choose one"],
    [["--sede", "3"], "unknown option '--sede'"],
  ])("refuses %j in a sentence", async (args, sentence) => {
    const { code, stderr, stdout } = await ralph(...args);
    const told = args.includes("--json") ? stdout : stderr;
    expect(code).toBe(64);
    expect(told).toContain(args.includes("--json") ? sentence : `ralph: ${sentence}`);
  });
});
