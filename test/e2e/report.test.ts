import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, WORKS, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const HOSTILE = "<script>alert(1)</script> \u001b[31mred\u001b[0m **bold** | `x`";

const LIES: Steps = [{ promise: "COMPLETE" }];
const BLOCKED: Steps = [{ promise: `BLOCKED:${HOSTILE}` }];

/** One task is done after a lie, one is blocked with words that nobody should trust, one asks. */
async function run(): Promise<void> {
  project = createProject({ tasks: ["one", "two", "three"] });
  project.script({ one: [LIES, WORKS], two: [BLOCKED], three: [[{ promise: "DECIDE:red or blue?" }]] });
  project.commit();
  expect((await project.ralph("run", "--keep-going", "--check", "true")).code).toBe(3);
}

async function report(...args: string[]): Promise<string> {
  const { code, stdout } = await project.ralph("report", ...args);
  expect(code).toBe(0);
  return stdout;
}

describe("ralph report", () => {
  test("tells in Markdown what happened, what it wants, and why a task was accepted", async () => {
    await run();
    const text = await report();
    expect(await report("--md")).toContain("## Waiting for you");
    expect(text).toMatch(/^# .*A decision is needed\n/);
    expect(text).toContain("| Tasks done | 1 of 3 |");
    expect(text).toContain("`ralph unblock two && ralph run`");
    expect(text).toContain("- **three** asks: red or blue?");
    expect(text).toMatch(/✗ \*\*Iteration 1, rejected\*\*: claimed COMPLETE\. Rejected: /);
    expect(text).toMatch(/✔ \*\*Iteration \d, accepted\*\*: claimed COMPLETE\. Accepted: /);
    expect(text).toContain("| Claim | COMPLETE, by demo |");
    expect(text).toMatch(/\| Commit \| `[0-9a-f]{40}` \|/);
    expect(text).toContain("## Costs");
  });

  test("is one page without scripts or anything from elsewhere, whatever agents say", async () => {
    await run();
    const page = await report("--html");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`);
    expect(page).not.toMatch(/<script|<link|<img|<iframe|<object|\son\w+=|https?:|@import/i);
    expect(page).not.toContain("\u001b");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt; red **bold** | `x`");
    expect(page).toContain("prefers-color-scheme: dark");
    expect(page.match(/<svg class="(timeline|chart)"/g)?.length).toBeGreaterThanOrEqual(3);
    expect(page).toContain('<rect class="span is-accepted');
    expect(page).toContain('<rect class="span is-rejected');
    expect(await report("--md")).not.toMatch(/(?<!\\)<script/);
  });

  test("writes a file, and knows by its name what it should be", async () => {
    await run();
    const { code, stdout, stderr } = await project.ralph("report", "--out", "../night.html");
    const file = join(project.root, "..", "night.html");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(file);
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>/);
    const lost = await project.ralph("report", "--out", "../nowhere/night.html");
    expect(lost).toMatchObject({ code: 64, stdout: "" });
    expect(lost.stderr).toContain("cannot be written (ENOENT)");
  });

  test("is of the latest run, or of the one that is named by the beginning of its id", async () => {
    await run();
    await project.ralph("decide", "three", "red");
    project.script({ three: [WORKS] });
    await project.ralph("run", "--check", "true");
    const started = (await project.events()).filter(({ type }) => type === "run.started");
    const ids = started.map((event) => event["run"] as string);
    expect(ids).toHaveLength(2);
    const [first, second] = ids.map((id) => id.slice(0, 8));
    expect(await report()).toContain(`Run \`${second!}`);
    const earlier = await report(first!);
    expect(earlier).toContain(`Run \`${first!}`);
    expect(earlier).toContain("## What waited for a person when it ended");
    expect(earlier).toContain("- **three** asks: red or blue?");
    expect(await report(second!)).toContain("1 task was done before.");
  });

  test("refuses what it does not know with a sentence", async () => {
    await run();
    const unknown = await project.ralph("report", "nobody");
    expect(unknown).toMatchObject({ code: 64, stdout: "" });
    expect(unknown.stderr).toContain('no run begins with "nobody"');
    expect(await project.ralph("report", "--html", "--md")).toMatchObject({ code: 64, stdout: "" });
  });

  test("has nothing to tell before the first run, and makes nothing", async () => {
    project = createProject();
    const { code, stdout, stderr } = await project.ralph("report", "--out", "night.md");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe("ralph: no run yet in this repository\n  → start one: ralph run\n");
    expect(existsSync(join(project.root, "night.md"))).toBe(false);
  });
});
