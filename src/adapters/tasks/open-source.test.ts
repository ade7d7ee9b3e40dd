import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SourceIdentity } from "../../core/plan.ts";
import { openSource, type Places, type SourceRequest } from "./open-source.ts";

let places: Places;
beforeEach(() => {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  places = { root, ralphDir: join(root, ".ralph") };
});
afterEach(() => rmSync(places.root, { recursive: true }));

const BOX = "- [ ] a\n";
const ROADMAP = "- [ ] **a**: x\n  - ralph: true\n";
const STORIES = '{"userStories": []}';

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(places.root, path)), { recursive: true });
    writeFileSync(join(places.root, path), text);
  }
}

function opened(request: SourceRequest = { is: "auto" }): Pick<SourceIdentity, "kind" | "path"> {
  const { kind, path, label } = openSource(request, places).source.identity;
  return { kind, path: kind === "prompt" ? label : path };
}

describe("what is found", () => {
  test.each<[string, Record<string, string>, string, string]>([
    ["a roadmap", { "roadmap.md": ROADMAP, "TODO.md": BOX }, "roadmap", "roadmap.md"],
    ["a roadmap in capitals", { "ROADMAP.md": ROADMAP, "tasks.json": STORIES }, "roadmap", "ROADMAP.md"],
    [
      "a roadmap among the specifications",
      { "specs/roadmap.md": ROADMAP, "TODO.md": BOX },
      "roadmap",
      "specs/roadmap.md",
    ],
    ["a roadmap with bare ids", { "roadmap.md": "- [ ] **a**: x\n" }, "roadmap", "roadmap.md"],
    ["a roadmap that is only a checklist", { "ROADMAP.md": BOX }, "checklist", "ROADMAP.md"],
    ["a roadmap that is only prose", { "ROADMAP.md": "Soon.\n", "TODO.md": BOX }, "checklist", "TODO.md"],
    ["a roadmap by another name", { "TODO.md": ROADMAP }, "roadmap", "TODO.md"],
    ["ids without properties", { "TODO.md": "- [ ] **a**: x\n  - fast\n" }, "checklist", "TODO.md"],
    ["properties, but not all with ids", { "TODO.md": `${ROADMAP}- [ ] b\n` }, "checklist", "TODO.md"],
    ["stories", { "tasks.json": STORIES, "prd.json": STORIES, "TODO.md": BOX }, "tasks-json", "tasks.json"],
    ["stories in prd.json", { "prd.json": STORIES, "prd.md": BOX }, "tasks-json", "prd.json"],
    [
      "somebody else's tasks.json",
      { "tasks.json": '{"version": "2.0.0"}', "TODO.md": BOX },
      "checklist",
      "TODO.md",
    ],
    [
      "stories in a file with a mistake",
      { "tasks.json": '{"userStories": [}', "TODO.md": BOX },
      "tasks-json",
      "tasks.json",
    ],
    ["a fix plan", { "@fix_plan.md": BOX, "TODO.md": BOX }, "checklist", "@fix_plan.md"],
    ["a fix plan beside a prompt", { "@fix_plan.md": BOX, "PROMPT.md": "Go" }, "prompt", "PROMPT.md"],
    ["an empty fix plan beside a prompt", { "fix_plan.md": "", "PROMPT.md": "Go" }, "prompt", "PROMPT.md"],
    ["a checklist before a prompt", { "TODO.md": BOX, "PROMPT.md": "Go" }, "checklist", "TODO.md"],
    ["a prompt", { "PROMPT.md": "Go", "README.md": BOX }, "prompt", "PROMPT.md"],
    [
      "a prompt although a checklist has no boxes",
      { "PROMPT.md": "Go", "TODO.md": "later" },
      "prompt",
      "PROMPT.md",
    ],
    [
      "boxes in code only, then a real list",
      { "tasks.md": "```\n- [ ] a\n```\n", "PRD.md": BOX },
      "checklist",
      "PRD.md",
    ],
    ["ours before the root's", { ".ralph/prd.md": BOX, "roadmap.md": ROADMAP }, "checklist", ".ralph/prd.md"],
    [
      "our prompt before the root's list",
      { ".ralph/PROMPT.md": "Go", "TODO.md": BOX },
      "prompt",
      ".ralph/PROMPT.md",
    ],
  ])("%s", (_name, files, kind, path) => {
    write(files);
    expect(opened()).toEqual({ kind, path });
  });

  test("nothing is an error that says what to do", () => {
    write({ "TODO.md": "later", "README.md": BOX });
    expect(() => opened()).toThrow("there is nothing to do: no goal was given and no checklist was found");
  });

  test("neither a folder nor a link that leads outside", () => {
    mkdirSync(join(places.root, "roadmap.md"));
    const outside = mkdtempSync(join(tmpdir(), "ralph-outside-"));
    writeFileSync(join(outside, "x.md"), BOX);
    symlinkSync(join(outside, "x.md"), join(places.root, "tasks.md"));
    write({ "TODO.md": BOX });
    expect(opened()).toEqual({ kind: "checklist", path: "TODO.md" });
    rmSync(outside, { recursive: true });
  });
});

describe("what is asked for", () => {
  test.each<[string, string, string, string]>([
    ["a checklist", "docs/plan.md", BOX, "checklist"],
    ["a roadmap", "docs/plan.md", ROADMAP, "roadmap"],
    ["a roadmap by its name", "docs/my-roadmap.md", "- [ ] **a**: x\n- [ ] b\n", "roadmap"],
    ["stories", "docs/x.json", "{}", "tasks-json"],
    ["a prompt", "docs/PROMPT.md", BOX, "prompt"],
    ["a prompt with a longer name", "docs/PROMPT-review.md", "Go", "prompt"],
    ["a fix plan", "@fix_plan.md", BOX, "checklist"],
    ["an empty file", "empty.txt", "", "checklist"],
  ])("%s", (_name, path, text, kind) => {
    write({ [path]: text, "PROMPT.md": "Go" });
    expect(opened({ is: "file", path, base: places.root })).toEqual({ kind, path });
  });

  test("counts from where it was asked, and a bare name is looked for in our folder too", () => {
    write({ "docs/TODO.md": BOX, ".ralph/plan.md": BOX });
    expect(opened({ is: "file", path: "TODO.md", base: join(places.root, "docs") }).path).toBe(
      "docs/TODO.md",
    );
    expect(opened({ is: "file", path: "plan.md", base: join(places.root, "docs") }).path).toBe(
      ".ralph/plan.md",
    );
    expect(() => opened({ is: "file", path: "docs/plan.md", base: places.root })).toThrow(
      "the task source docs/plan.md does not exist",
    );
  });

  test("may be read as another kind than it looks", () => {
    write({ "TODO.md": "- [ ] a\n  - timeout: 5\n" });
    const request = { is: "file", path: "TODO.md", base: places.root } as const;
    expect(opened({ ...request, kind: "roadmap" })).toEqual({ kind: "roadmap", path: "TODO.md" });
    expect(opened({ ...request, kind: "prompt" })).toEqual({ kind: "prompt", path: "TODO.md" });
  });

  test("must lie in the repository", () => {
    const outside = mkdtempSync(join(tmpdir(), "ralph-outside-"));
    writeFileSync(join(outside, "x.md"), BOX);
    expect(() => opened({ is: "file", path: join(outside, "x.md"), base: "/" })).toThrow(
      "is outside the repository",
    );
    rmSync(outside, { recursive: true });
  });

  test("in words is a goal", () => {
    expect(opened({ is: "goal", goal: "do it" })).toEqual({ kind: "goal", path: null });
  });
});

test("it says what was chosen and why", () => {
  write({ "TODO.md": BOX, "x.md": ROADMAP, "sub/@fix_plan.md": BOX, "sub/PROMPT.md": "Go" });
  const file = { is: "file", path: "x.md", base: places.root } as const;
  expect(openSource({ is: "auto" }, places).why).toBe(
    "the tasks: TODO.md, the first file found; a checklist",
  );
  expect(openSource(file, places).why).toBe(
    "the tasks: x.md, as asked for; a roadmap: all its tasks have ids, and some have properties",
  );
  expect(openSource({ ...file, kind: "checklist" }, places).why).toBe(
    "the tasks: x.md, as asked for; read as a checklist",
  );
  expect(openSource({ is: "auto" }, { root: places.root, ralphDir: join(places.root, "sub") }).why).toBe(
    "the tasks: sub/PROMPT.md, the first file found; one open-ended prompt, with @fix_plan.md as its checklist",
  );
});

test("defaults reach the tasks of a roadmap", async () => {
  write({ "roadmap.md": ROADMAP });
  const { source } = openSource({ is: "auto" }, places, { defaultIterations: 9, defaultPromise: "OK" });
  expect((await source.observe()).tasks[0]).toMatchObject({ maxIterations: 9, promise: "OK" });
});
