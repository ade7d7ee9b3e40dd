import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import { BUILD, type StageSettings } from "../../src/core/stages/stages.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "./given.ts";

const login = task("login");

function stage(name: string, more: Partial<StageSettings> = {}): StageSettings {
  return { ...BUILD, name, maxIterations: 5, promise: `${name.toUpperCase()}_DONE`, ...more };
}

const PIPELINE: Partial<Settings> = {
  stages: [stage("coder"), stage("reviewer", { agent: "other" }), stage("tester"), stage("qa")],
  reviewCap: 2,
};

const start = (more: Partial<Settings> = {}): readonly Event[] => [
  runStarted({ ...PIPELINE, ...more }),
  tasksObserved(login),
];

/** An iteration in a stage, up to the moment before its verdict. */
function worked(
  iteration: number,
  name: string,
  said: { readonly promise?: string; readonly words?: string; readonly files?: readonly string[] },
): readonly Event[] {
  const { promise = null, words = "", files = [] } = said;
  const isClaim = promise !== null && !promise.startsWith("CHANGES_REQUESTED:");
  return [
    iterationStarted(iteration, login, { stage: name }),
    iterationEnded(iteration, login, isClaim ? "complete" : "none", { promise, finalText: words }),
    evidence(iteration, login, files, { changedSinceTaskBegan: { files: 1, paths: ["login.ts"] } }),
  ];
}

const coded = (iteration: number) =>
  worked(iteration, "coder", { promise: "CODER_DONE", files: ["login.ts"] });
const objected = (iteration: number, findings = "the token never expires") =>
  worked(iteration, "reviewer", { promise: `CHANGES_REQUESTED:${findings}` });
const approved = (iteration: number) =>
  worked(iteration, "reviewer", { promise: "REVIEWER_DONE", words: "REVIEW PASSED" });

describe("a pipeline of stages", () => {
  test("takes a task from one stage to the next", () => {
    const reviewed = given(...start(), ...coded(1))
      .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "stage.passed", next: "reviewer" })
      .andThen();
    expect(reviewed.nextPrompt(login)).toContain("- **Stage**: reviewer\n- **Ralph Iteration**: 1/5");
    expect(reviewed.nextPrompt(login)).toContain("<promise>REVIEWER_DONE</promise>");
    reviewed
      .andThen(...approved(2))
      .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "stage.passed", next: "tester" });
  });

  test("and the last one completes it", () => {
    const atQa: Event = {
      type: "stage.passed",
      run: "run-1",
      task: "login",
      iteration: 1,
      stage: "tester",
      next: "qa",
    };
    given(...start(), ...coded(1))
      .andThen(atQa, ...worked(2, "qa", { promise: "QA_DONE" }))
      .decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
  });

  test("has its own agent where it names one", () => {
    const reviewed = given(...start(), ...coded(1)).andThen();
    expect(reviewed.nextAgent(login)).toBe("other");
  });

  test("goes back to the first stage with what a later one found", () => {
    const back = given(...start(), ...coded(1))
      .andThen(...objected(2))
      .decides(
        { type: "verdict.reached", verdict: "continue", madeProgress: true },
        { type: "stage.objected", to: "coder", findings: "the token never expires" },
      )
      .andThen();
    const prompt = back.nextPrompt(login);
    expect(prompt).toContain("- **Stage**: coder\n- **Ralph Iteration**: 1/5");
    expect(prompt).toContain(
      "the reviewer looked at your work and asks for changes: the token never expires",
    );
  });

  test("asks a person when it has been back too often", () => {
    let story = given(...start(), ...coded(1)).andThen(...objected(2));
    for (const round of [1, 2]) {
      story = story.andThen(...coded(2 * round + 1)).andThen(...objected(2 * round + 2));
    }
    story.decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "stage.objected" },
      { type: "question.asked" },
    );
  });

  test("an objection of the stage that writes the code is none", () => {
    given(...start(), ...worked(1, "coder", { promise: "CHANGES_REQUESTED:the specification" })).decides(
      { type: "verdict.reached", verdict: "continue", madeProgress: false },
      { type: "intervention.chosen", rule: "other-promise" },
      { type: "intervention.chosen" },
    );
  });

  test("a stage that does not loop needs no promise", () => {
    const single = { stages: [stage("coder"), stage("reviewer", { loops: false })] };
    const reviewed = given(...start(single), ...coded(1)).andThen(
      ...worked(2, "reviewer", { words: "Approved: it is fine." }),
    );
    reviewed.decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
  });
});

describe("a reviewer", () => {
  const reviewing = given(...start(), ...coded(1));

  test("need not change anything, and must not", () => {
    const put = evidence(2, login, [], { putBack: ["login.ts"] });
    const [begun, ended] = approved(2);
    expect(begun).toBeDefined();
    reviewing
      .andThen(...[begun, ended].filter((event) => event !== undefined), put)
      .decides({ type: "verdict.reached", verdict: "rejected" }, { type: "intervention.chosen" });
  });

  test("has to say that it approves", () => {
    reviewing
      .andThen(...worked(2, "reviewer", { promise: "REVIEWER_DONE", words: "I have read it." }))
      .decides({ type: "verdict.reached", verdict: "rejected" }, { type: "intervention.chosen" });
  });
});
