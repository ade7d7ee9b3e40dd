import { expect, test } from "vitest";
import { planPrompt, type PlanPromptParts } from "./plan-prompt.ts";

const PARTS: PlanPromptParts = {
  prd: "\n# Log in\n\nPeople log in.\n",
  prdPath: "docs/prd.md",
  planPath: ".ralph/tasks.json",
  isThere: false,
  gates: [],
  mistakes: [],
};

const headings = (prompt: string): readonly string[] => prompt.match(/^## .*$/gm) ?? [];

test("the sections stand in the order in which they are needed, the requirements last", () => {
  const prompt = planPrompt(PARTS);
  expect(headings(prompt)).toEqual([
    "## Task",
    "## The file",
    "## Rules",
    "## If the requirements do not suffice",
    "## Requirements (docs/prd.md)",
  ]);
  expect(prompt.endsWith("## Requirements (docs/prd.md)\n\n# Log in\n\nPeople log in.\n")).toBe(true);
  expect(prompt).not.toMatch(/\n{3,}/);
});

test("an older plan is to be replaced, and only then is it spoken of", () => {
  expect(planPrompt(PARTS)).not.toContain("older plan");
  expect(planPrompt({ ...PARTS, isThere: true })).toContain(
    "\n.ralph/tasks.json holds an older plan: replace all of it.\n",
  );
});

test("what was refused is told before everything else that is told again", () => {
  const prompt = planPrompt({ ...PARTS, mistakes: ["US-001 has no title", "US-002 depends on itself"] });
  expect(headings(prompt)[1]).toBe("## Previous Attempt Feedback (DO NOT IGNORE)");
  expect(prompt).toContain(
    ".ralph/tasks.json was checked and refused. Repair this, and look through the whole file for more of the kind:\n- US-001 has no title\n- US-002 depends on itself\n",
  );
});

test("commands that run anyway are named, so that the plan leaves them out", () => {
  expect(planPrompt(PARTS)).toContain("an empty list if there\n  is none.\n");
  expect(planPrompt({ ...PARTS, gates: ["npm test", "npm run lint"] })).toContain(
    "is none. These run anyway, leave them out: npm test; npm run lint.\n",
  );
});

test("the example is a plan in which nothing is done, and the ways to answer are named", () => {
  const prompt = planPrompt(PARTS);
  const example = JSON.parse(prompt.slice(prompt.indexOf("\n{") + 1, prompt.indexOf("\n}") + 2)) as {
    userStories: { id: string; passes: boolean; dependsOn: string[] }[];
  };
  expect(example.userStories.map(({ id, passes, dependsOn }) => ({ id, passes, dependsOn }))).toEqual([
    { id: "US-001", passes: false, dependsOn: [] },
    { id: "US-002", passes: false, dependsOn: ["US-001"] },
  ]);
  for (const answer of ["DECIDE:1. ", "BLOCKED:the reason", "PLANNED"])
    expect(prompt).toContain(`\`<promise>${answer}`);
});
