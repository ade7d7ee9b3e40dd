import { describe, expect, test } from "vitest";
import { newTask } from "../state.ts";
import { plainTask } from "../plan.ts";
import { buildPrompt, type PromptParts, templateProblem } from "./build-prompt.ts";

const PARTS: PromptParts = {
  task: plainTask({
    id: "login",
    title: "Log in",
    description: "Make it work",
    criteria: ["a token comes back"],
    success: "all tests pass",
  }),
  stage: "build",
  kind: "other",
  isFirstStage: true,
  work: null,
  review: null,
  ordinal: 3,
  maxIterations: 15,
  promise: "COMPLETE",
  settings: {
    gates: [],
    git: { commit: "ralph", hooks: false },
    protect: { paths: ["test/contract/**"] },
    source: { kind: "checklist", label: "TODO.md", path: "TODO.md" },
  },
  known: {
    ...newTask("login"),
    left: { cutOff: "the run was stopped", words: "Half of it is there." },
    question: {
      text: "this or that?",
      options: [],
      iteration: 1,
      askedAt: 0,
      default: null,
      deadlineAt: null,
      answer: "that",
      usedIn: null,
      acceptance: null,
    },
    feedback: [{ iteration: 2, text: "no file has changed" }],
  },
  base: null,
  notes: "the API is at /v2",
  notesPath: ".ralph/progress.txt",
  messages: "## Message from the operator\nuse the v2 API",
  lessons: [],
  template: null,
};

describe("the built-in prompt", () => {
  test("has its sections in the agreed order", () => {
    const headings = [...buildPrompt(PARTS).matchAll(/^## .+$/gm)].map(([line]) => line);
    expect(headings).toEqual([
      "## Task Information",
      "## Specification",
      "## Success criteria",
      "## Work so far",
      "## Notes from earlier work (`.ralph/progress.txt`: add what later ones have to know)",
      "## Answered decision",
      "## Message from the operator",
      "## Previous Iteration Feedback (DO NOT IGNORE)",
      "## Required evidence",
      "## Completion Requirements",
      "## If you cannot go on",
    ]);
    expect(buildPrompt(PARTS)).toContain("- **Ralph Iteration**: 3/15");
    expect(buildPrompt(PARTS)).toContain("\n<promise>COMPLETE</promise>\n");
  });

  test("leaves out what there is nothing to say about, without a gap", () => {
    const bare = buildPrompt({
      ...PARTS,
      task: plainTask({ id: "a", title: "A" }),
      notes: "",
      known: newTask("a"),
      messages: "",
    });
    expect(bare).not.toMatch(/Specification|Success|so far|Notes|Answered|Message|Feedback/);
    expect(bare).not.toContain("\n\n\n");
  });

  test("names what the agent must not change, and quotes what was left", () => {
    expect(buildPrompt(PARTS)).toContain("Leave the task list `TODO.md`, `test/contract/**` and Ralph");
    expect(buildPrompt(PARTS)).toContain("interrupted (the run was stopped)");
    expect(buildPrompt(PARTS)).toContain("\n> Half of it is there.\n");
  });

  test("keeps the feedback within its bounds", () => {
    const long = { iteration: 2, text: "x".repeat(20_000) };
    const section = /## Previous Iteration Feedback[^]*?(?=\n## )/.exec(
      buildPrompt({ ...PARTS, known: { ...PARTS.known, feedback: [long] } }),
    )?.[0];
    expect(section?.trimEnd().length).toBeLessThanOrEqual(4_000);
  });
});

describe("an own template", () => {
  test("is filled with the values it asks for", () => {
    const template =
      "{{ title }} ({{iteration}} of {{max_iterations}}): print <promise>{{promise}}</promise>";
    expect(buildPrompt({ ...PARTS, template, messages: "" })).toBe(
      "Log in (3 of 15): print <promise>COMPLETE</promise>\n",
    );
  });

  test("without a place for decisions still has the operator's message", () => {
    const prompt = buildPrompt({ ...PARTS, template: "{{title}}" });
    expect(prompt).toMatch(/^Log in\n[^]*## Message from the operator\nuse the v2 API\n$/);
    const twice = buildPrompt({ ...PARTS, template: "{{ decision }}\n{{title}}" }).match(/use the v2 API/g);
    expect(twice).toHaveLength(1);
  });

  test("without the title elsewhere has it in the specification", () => {
    const task = plainTask({ id: "a", title: "Add a" });
    expect(buildPrompt({ ...PARTS, task, template: "{{specification}}", messages: "" })).toBe(
      "## Specification\nAdd a\n",
    );
  });

  test("is not filled twice: braces in a task are text", () => {
    const task = plainTask({ id: "a", title: "{{promise}}" });
    expect(buildPrompt({ ...PARTS, task, template: "{{title}}", messages: "" })).toBe("{{promise}}\n");
  });

  test.each([
    ["{{title}}", null],
    ["no variable { at } all {", null],
    ["one\ntwo {{titel}}", { line: 2, message: "unknown variable {{titel}}; did you mean {{title}}?" }],
    ["{{}}", { line: 1, message: expect.stringContaining("known: task_information") }],
  ])("%j has the problem %j", (template, problem) => {
    expect(templateProblem(template)).toEqual(problem);
  });
});
