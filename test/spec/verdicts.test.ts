import { describe, expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login");
const begun = [runStarted(), tasksObserved(login), iterationStarted(1, login)];
const gated = [runStarted({ gates: [TESTS_GATE] }), tasksObserved(login), iterationStarted(1, login)];

describe("a completion claim", () => {
  test("with changes and without gates is accepted", () => {
    given(...begun, iterationEnded(1, login, "complete"), evidence(1, login, ["a.ts"])).decides(
      { type: "verdict.reached", verdict: "accepted", madeProgress: true },
      { type: "task.completed", commit: "h1" },
    );
  });

  test("without changes is rejected, and told so next time", () => {
    const rejected = given(...begun, iterationEnded(1, login, "complete"), evidence(1, login, []));
    rejected.decides(
      { type: "verdict.reached", verdict: "rejected", madeProgress: false },
      { type: "intervention.chosen", intervention: "false_completion_detected" },
      { type: "intervention.chosen", intervention: "no_files_detected" },
    );
    const prompt = rejected.andThen().nextPrompt(login);
    expect(prompt).toContain("## Previous Iteration Feedback (DO NOT IGNORE)");
    expect(prompt).toContain("no file has changed since the task began");
  });

  test("that only confirms the work of an earlier iteration is accepted", () => {
    const sinceTaskBegan = { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } };
    given(...begun, iterationEnded(1, login, "complete"), evidence(1, login, [], sinceTaskBegan)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });

  test("goes to the gates when there is something to accept", () => {
    given(...gated, iterationEnded(1, login, "complete"), evidence(1, login, ["a.ts"])).wants("gates:1");
  });

  test("does not go to the gates when a hard guard objects already", () => {
    given(...gated, iterationEnded(1, login, "complete"), evidence(1, login, [])).wants("verdict:1");
  });

  test("with a red gate is rejected, and the failing output is in the next prompt", () => {
    const red = gatesChecked(1, login, { status: "failed", exitCode: 1, tail: "2 of 41 failed" });
    const rejected = given(...gated, iterationEnded(1, login, "complete"), evidence(1, login, ["a.ts"]), red);
    rejected.decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", intervention: "gate_failed" },
    );
    expect(rejected.andThen().nextPrompt(login)).toContain("2 of 41 failed");
  });

  test.each([
    ["failed", true, "warn", "rejected"],
    ["timeout", true, "warn", "rejected"],
    ["failed", false, "warn", "accepted"],
    ["missing", true, "warn", "accepted"],
    ["missing", true, "fail", "blocked"],
    ["skipped", true, "skip", "accepted"],
  ] as const)(
    "with a gate that is %s (required: %s, on_missing: %s) is %s",
    (status, required, onMissing, verdict) => {
      const checked = gatesChecked(1, login, { status, required, onMissing, exitCode: 1 });
      const [first] = given(
        ...gated,
        iterationEnded(1, login, "complete"),
        evidence(1, login, ["a.ts"]),
        checked,
      ).effects;
      expect(first).toMatchObject({ kind: "record", events: [{ type: "verdict.reached", verdict }, {}] });
    },
  );

  test("with uncommitted files is rejected when the agent has to commit", () => {
    const settings = { git: { commit: "agent", hooks: false } } as const;
    given(
      runStarted(settings),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"], { uncommitted: [{ path: "a.ts", look: "" }] }),
    ).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", intervention: "dirty_tree" },
    );
  });

  test("on another branch is rejected", () => {
    given(
      ...begun,
      iterationEnded(1, login, "complete"),
      evidence(1, login, ["a.ts"], { strayedTo: "other" }),
    ).decides(
      { type: "verdict.reached", verdict: "rejected" },
      { type: "intervention.chosen", intervention: "evidence_validation_failed" },
    );
  });

  test("of an agent that ended badly is no completion", () => {
    const crashed = {
      ending: { is: "exited", code: 1 },
      failure: { class: "agent", message: "exit code 1" },
    } as const;
    given(...begun, iterationEnded(1, login, "complete", crashed), evidence(1, login, ["a.ts"])).decides(
      { type: "verdict.reached", verdict: "failed" },
      { type: "intervention.chosen" },
    );
  });
});

describe("an iteration without a claim", () => {
  test("goes on, and is told what to print if it is done", () => {
    const going = given(...begun, iterationEnded(1, login, "none"), evidence(1, login, ["a.ts"]));
    going.decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", severity: "info" },
    );
    expect(going.andThen().nextPrompt(login)).toContain(
      "print <promise>COMPLETE</promise> on a line of its own",
    );
  });

  test("runs the gates only when asked to", () => {
    const every = { gates: [TESTS_GATE], gatesEveryIteration: true };
    given(
      runStarted(every),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "none"),
      evidence(1, login, ["a.ts"]),
    ).wants("gates:1");
    given(...gated, iterationEnded(1, login, "none"), evidence(1, login, ["a.ts"])).wants("verdict:1");
  });

  test("that changed nothing is told to write files", () => {
    const idle = given(...begun, iterationEnded(1, login, "none"), evidence(1, login, []));
    idle.decides(
      { type: "verdict.reached", verdict: "continue" },
      { type: "intervention.chosen", intervention: "no_files_detected" },
    );
  });
});

describe("feedback", () => {
  test("is replaced by what the next iteration shows", () => {
    const next = given(...begun, iterationEnded(1, login, "complete"), evidence(1, login, []))
      .andThen(iterationStarted(2, login), iterationEnded(2, login, "none"), evidence(2, login, ["a.ts"]))
      .andThen();
    expect(next.nextPrompt(login)).not.toContain("no file has changed");
    expect(next.nextPrompt(login)).toContain("Iteration 2 ended without a claim");
  });

  test("is kept when an iteration was interrupted and its prompt never answered", () => {
    const interrupted = iterationEnded(2, login, "none", { ending: { is: "interrupted" } });
    const next = given(...begun, iterationEnded(1, login, "complete"), evidence(1, login, []))
      .andThen(iterationStarted(2, login), interrupted, evidence(2, login, []))
      .andThen();
    expect(next.nextPrompt(login)).toContain("no file has changed");
  });
});

describe("the work of other tasks in between", () => {
  test("does not count as a task's own", () => {
    const other = task("other");
    const workBase = given(
      runStarted(),
      tasksObserved(login, other),
      iterationStarted(1, login, { head: "h0" }),
      iterationEnded(1, login, "none"),
      evidence(1, login, []),
    ).andThen(iterationStarted(2, login, { head: "h9" })).state.tasks["login"]?.workBase;
    expect(workBase).toMatchObject({ base: "h9", earlier: { files: 0 } });
  });

  test("leaves what the task itself changed before", () => {
    const workBase = given(...begun, iterationEnded(1, login, "none"), evidence(1, login, ["a.ts"])).andThen(
      iterationStarted(2, login, { head: "h9" }),
    ).state.tasks["login"]?.workBase;
    expect(workBase).toMatchObject({ base: "h9", earlier: { files: 1, paths: ["a.ts"] } });
  });
});
