import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import { BUILD, type StageSettings } from "../../src/core/loop/stages.ts";
import { shownBase } from "../../src/core/loop/begin-iteration.ts";
import { protectionFor } from "../../src/core/verdict/facts.ts";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
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
      "## Sent back\nIn iteration 2 the reviewer looked at your work and asks for changes:\n\nFinding 1: the token never expires\n",
    );
  });

  test("goes back to the nearest earlier stage that writes code", () => {
    const stages = [stage("plan"), stage("coding"), stage("docs"), stage("review-it")];
    const reviewed = worked(2, "review-it", { promise: "CHANGES_REQUESTED:no" });
    const passed = { type: "stage.passed", run: "run-1", task: "login", iteration: 1 } as const;
    given(...start({ stages }), { ...passed, stage: "docs", next: "review-it" }, ...reviewed).decides(
      { type: "verdict.reached" },
      { type: "stage.objected", to: "coding" },
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

describe("a send-back", () => {
  const twoFindings = "Please look at these:\n1. the token never expires\n   (see login.ts:3)\n2. no test";
  const back = given(...start(), ...coded(1))
    .andThen(...objected(2, twoFindings))
    .andThen();
  const claims = (iteration: number, answers: readonly number[], files: readonly string[] = []) => {
    const [begun, , seen] = worked(iteration, "coder", { promise: "CODER_DONE", files });
    const said = answers.map((number) => ({ about: "finding", number, text: "it is right" }) as const);
    const ended = iterationEnded(iteration, login, "complete", {
      promise: "CODER_DONE",
      signals: signals({ answers: said }),
    });
    return [begun!, ended, seen!];
  };

  test("numbers the findings, in every prompt until they are settled", () => {
    const list = "Finding 1: the token never expires (see login.ts:3)\nFinding 2: no test\n";
    expect(back.nextPrompt(login)).toContain(list);
    expect(
      back
        .andThen(...claims(3, []))
        .andThen()
        .nextPrompt(login),
    ).toContain(list);
  });

  test("is not satisfied by a claim over an unchanged tree", () => {
    back.andThen(...claims(3, [1])).decides(
      {
        type: "verdict.reached",
        verdict: "rejected",
        reasons: [
          {
            rule: "findings",
            sentence: "no file has changed since the reviewer asked for changes, and finding 2 has no answer",
          },
        ],
      },
      { type: "intervention.chosen", rule: "findings" },
      { type: "intervention.chosen" },
    );
  });

  test("is not satisfied after a question either", () => {
    const asked = [
      iterationStarted(3, login, { stage: "coder" }),
      iterationEnded(3, login, "undecided"),
      evidence(3, login, [], { changedSinceTaskBegan: { files: 1, paths: ["login.ts"] } }),
    ];
    const answer = { type: "question.answered", task: "login", answer: "this", by: "person" } as const;
    const again = back.andThen(...asked).andThen(answer, ...claims(4, []));
    again.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen" },
      { type: "intervention.chosen" },
    );
  });

  test("is satisfied by an answer to each finding, which the next stage is told", () => {
    const answered = back.andThen(...claims(3, [1, 2]));
    const next = answered.andThen();
    expect(next.state.tasks["login"]?.stage).toBe("reviewer");
    expect(next.nextPrompt(login)).toContain("Finding 2: no test\nThe answer: it is right\n");
    expect(next.nextPrompt(login)).not.toContain("## Sent back");
  });

  test("is satisfied by a change, also of an earlier iteration", () => {
    expect(back.andThen(...claims(3, [], ["login.ts"])).andThen().state.tasks["login"]?.stage).toBe(
      "reviewer",
    );
    const changed = back.andThen(...worked(3, "coder", { files: ["login.ts"] })).andThen(...claims(4, []));
    expect(changed.andThen().state.tasks["login"]?.stage).toBe("reviewer");
  });
});

describe("a stage whose name begins like a kind", () => {
  const stages = [
    stage("code"),
    stage("review-again"),
    stage("testing"),
    stage("audit", { kind: "reviewer" }),
  ];
  const at = (next: string) =>
    given(...start({ stages }), ...worked(1, "code", { promise: "CODE_DONE", files: ["login.ts"] })).andThen({
      type: "stage.passed",
      run: "run-1",
      task: "login",
      iteration: 1,
      stage: "code",
      next,
    });

  test.each(["review-again", "audit"])("has the words and the rules of a reviewer: %s", (name) => {
    expect(at(name).nextPrompt(login)).toContain("Review what it did with fresh eyes");
    at(name)
      .andThen(...worked(2, name, { promise: `${name.toUpperCase()}_DONE`, words: "done" }))
      .decides(
        {
          type: "verdict.reached",
          verdict: "rejected",
          reasons: [{ rule: "approval", sentence: expect.any(String) as string }],
        },
        { type: "intervention.chosen" },
      );
    expect(protectionFor(settings({ stages }), name)("login.ts")).toBe(true);
  });

  test("has the words of a tester, and may write tests", () => {
    expect(at("testing").nextPrompt(login)).toContain("write the tests that are missing");
    expect(protectionFor(settings({ stages }), "testing")("login.ts")).toBe(false);
  });

  test("is another kind where the configuration says so", () => {
    const other = { stages: [stage("code"), stage("review-notes", { kind: "other" })] };
    expect(protectionFor(settings(other), "review-notes")("login.ts")).toBe(false);
  });

  test("gets the diff and the commit that it begins at", () => {
    const work = { diff: "--- login.ts\n+token", isDiffCut: false, base: "h0", head: "h1" };
    const prompt = at("review-again").nextPrompt(login, work);
    expect(prompt).toContain("```diff\n--- login.ts\n+token\n```");
    expect(prompt).toContain("`git diff --no-ext-diff h0 h1`");
    expect(shownBase(at("review-again").state, "login")).toBe("h0");
    expect(shownBase(given(...start()).state, "login")).toBeNull();
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
