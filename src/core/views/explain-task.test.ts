import { describe, expect, test } from "vitest";
import {
  evidence,
  gatesChecked,
  given,
  interventionChosen,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  task,
  tasksObserved,
  TESTS_GATE,
} from "../../../test/spec/given.ts";
import type { Event, Recorded } from "../events.ts";
import { evolveAll, taskOf } from "../loop/evolve.ts";
import { NO_LEFTOVERS } from "../verdict/evidence.ts";
import { explainTask, type TaskExplanation } from "./explain.ts";

const ONE = task("one");
const RED = { status: "failed", exitCode: 1, durationMs: 9_000 } as const;
const PASSED_BEFORE = { name: "tests", status: "passed", exitCode: 0, durationMs: 1, failures: [] } as const;

/** Plays the facts with the decisions that follow from them, and explains the task. */
function explained(
  rounds: readonly (readonly Event[])[],
  more: Parameters<typeof runStarted>[0] = {},
  id = "one",
): TaskExplanation {
  let events: readonly Event[] = [runStarted(more), tasksObserved(ONE, task("two", { dependsOn: ["one"] }))];
  for (const round of rounds) {
    const now = [...events, ...round];
    const decided = given(...now).effects.flatMap((effect) =>
      effect.kind === "record" ? effect.events : [],
    );
    events = [...now, ...decided];
  }
  const recorded = events.map((event, at): Recorded => ({ ...event, position: at + 1, at }));
  return explainTask(
    id,
    recorded.filter((event) => taskOf(event) === id),
    evolveAll(recorded),
    false,
  );
}

const texts = ({ steps }: TaskExplanation): readonly string[] => steps.map(({ text }) => text);

describe("a task that was rejected once and then accepted", () => {
  const explanation = explained(
    [
      [
        iterationStarted(7, ONE),
        iterationEnded(7, ONE, "complete"),
        evidence(7, ONE, ["a.ts"]),
        gatesChecked(7, ONE, { ...RED, baseline: PASSED_BEFORE }),
      ],
      [
        iterationStarted(8, ONE),
        iterationEnded(8, ONE, "complete"),
        evidence(8, ONE, ["a.ts", "b.ts"], { headAfter: "3f2a91c0ffee" }),
        gatesChecked(8, ONE, {}, { name: "types" }),
      ],
    ],
    { gates: [TESTS_GATE] },
  );

  test("says when it was accepted, after how many rejections, and how to verify it", () => {
    expect(explanation).toMatchObject({
      status: "done",
      headline: "one was accepted in iteration 8, after 1 rejection.",
      next: "ralph verify one",
    });
  });

  test("says of each claim what became of it, and from what", () => {
    expect(texts(explanation)).toEqual([
      'claimed COMPLETE. Rejected: gate "tests" failed (exit 1, 9s); it had passed before the task began. For the next prompt: 1 correction (gate:tests).',
      "claimed COMPLETE. Accepted: 2 files changed since the task began, tests and types passed, tree committed (3f2a91c).",
    ]);
  });
});

describe("every other verdict has its sentence", () => {
  test.each([
    ["none", {}, "claimed nothing. Not done yet: the agent did not say that the task is done."],
    ["unfinished", {}, "said that there is more to do. Not done yet:"],
    [
      "already-done",
      {},
      "said that it was already done. Asked: the agent says that it is already done: no credentials.",
    ],
    ["blocked", {}, "said that it is blocked. Blocked: no credentials."],
    ["undecided", {}, "asked for a decision. Asked: this or that? Options: this, that."],
    [
      "none",
      {
        ending: { is: "timed-out", afterMs: 900_000 },
        failure: { class: "agent", message: "no end in 15m" },
      },
      "was ended after 15m. Failed (timeout): no end in 15m.",
    ],
    [
      "none",
      {
        ending: { is: "idle", afterMs: 600_000 },
        failure: { class: "agent", message: "no sign of life for 10m" },
      },
      "was ended after 10m without a sign of life. Failed (idle): no sign of life for 10m.",
    ],
    [
      "none",
      { ending: { is: "exited", code: 3 }, failure: { class: "agent", message: "exit code 3" } },
      "ended with exit code 3. Failed (agent): exit code 3.",
    ],
    [
      "none",
      { failure: { class: "transient", message: "overloaded" } },
      "Failed (transient): overloaded. Tried again from",
    ],
    ["none", { ending: { is: "interrupted" } }, "was interrupted. Failed (interrupted): interrupted:"],
    ["none", { ending: { is: "stopped" } }, "was asked to stop after 1s. Failed (stopped):"],
  ] as const)("%s %j", (claim, report, sentence) => {
    const explanation = explained([
      [iterationStarted(1, ONE), iterationEnded(1, ONE, claim, report), evidence(1, ONE, ["a.ts"])],
    ]);
    expect(texts(explanation)[0]).toContain(sentence);
  });

  test("a rejection names every reason", () => {
    const explanation = explained([
      [
        iterationStarted(1, ONE),
        iterationEnded(1, ONE, "complete"),
        evidence(1, ONE, ["a.ts"], { hidden: ["index flag of b.ts"], putBack: ["ralph.toml"] }),
      ],
    ]);
    expect(texts(explanation)[0]).toContain("protected files were changed (ralph.toml)");
    expect(texts(explanation)[0]).toContain("index flag of b.ts");
  });
});

describe("what happens between iterations is told in its place", () => {
  test("gates that were red before, and a person's answer", () => {
    const red = { ...PASSED_BEFORE, status: "failed", exitCode: 2, failures: ["old bug"] } as const;
    const explanation = explained([
      [
        {
          type: "baseline.measured",
          run: "run-1",
          task: "one",
          head: "h0",
          gates: [red],
          leftovers: NO_LEFTOVERS,
        },
        iterationStarted(1, ONE),
        iterationEnded(1, ONE, "undecided"),
        evidence(1, ONE, []),
      ],
      [{ type: "question.answered", task: "one", answer: "that", by: "person" }],
    ]);
    expect(texts(explanation)[0]).toBe('Red before the task began: gate "tests" (exit 2: old bug).');
    expect(texts(explanation)[2]).toBe("A person answered: that.");
    expect(explanation.headline).toBe("one has its answer (that) and goes on.");
  });

  test("an agent that was suspended, and who took over", () => {
    const lie = (number: number): readonly Event[] => [
      iterationStarted(number, ONE),
      iterationEnded(number, ONE, "complete"),
      evidence(number, ONE, []),
    ];
    const more = [
      iterationStarted(4, ONE, { agent: "other" }),
      iterationEnded(4, ONE, "complete"),
      evidence(4, ONE, ["a.ts"]),
    ];
    const explanation = explained([lie(1), lie(2), lie(3), more], { fallbackAgents: ["other"] });
    expect(explanation.headline).toBe("one was accepted in iteration 4, after 3 rejections.");
    expect(texts(explanation)[1]).toContain("At the top of the next prompt:");
    expect(texts(explanation)[2]).toMatch(
      /^stub claimed COMPLETE\. Rejected: .* stub was taken off the task: a false claim of completion, 3 times .*\. other takes over\.$/,
    );
    expect(texts(explanation)[3]).toMatch(/^other claimed COMPLETE\. Accepted: /);
  });
});

describe("corrections", () => {
  const silent = [iterationStarted(1, ONE), iterationEnded(1, ONE, "complete"), evidence(1, ONE, [])];

  test("that nobody is told, because interventions are off", () => {
    const off = { ...settings().interventions, enabled: false };
    expect(texts(explained([silent], { interventions: off }))[0]).toContain(
      "The agent is not told: interventions are off.",
    );
  });

  test("that reached the agent while it ran", () => {
    const told = interventionChosen(1, ONE, {
      intervention: "mid_stream_prompt_injected",
      rule: "mid-stream",
      isFedBack: false,
    });
    expect(texts(explained([[iterationStarted(1, ONE), told]]))[0]).toBe(
      "is running. No verdict yet. It was corrected while it ran.",
    );
  });
});

describe("a task without iterations", () => {
  test("is open, waits for another, or was marked by a person", () => {
    expect(explained([]).headline).toBe("one has not been worked on yet.");
    expect(explained([], {}, "two")).toMatchObject({ headline: "two waits for one.", next: "ralph why one" });
    expect(explained([[tasksObserved(task("one", { done: true }))]]).headline).toBe(
      "one is marked as done in TODO.md; Ralph did not verify it.",
    );
  });

  test("or was not part of the run, or is no longer in the list", () => {
    expect(explained([], { onlyTasks: ["two"] }).headline).toBe("one was not part of the last run.");
    expect(explained([[tasksObserved(task("two"))]])).toMatchObject({
      status: null,
      headline: "one is no longer in TODO.md.",
    });
  });
});

describe("a task that was begun anew", () => {
  const round = (number: number): readonly Event[] => [
    iterationStarted(number, ONE),
    iterationEnded(number, ONE, "none"),
    evidence(number, ONE, ["a.ts"]),
  ];

  test("is told from there, with a word about what was before", () => {
    const explanation = explained([round(1), round(2), [{ type: "task.reset", task: "one" }], round(3)]);
    expect(texts(explanation)[0]).toBe("Before that: 2 iterations (ralph history --task one).");
    expect(explanation.steps.map(({ record }) => record?.iteration)).toEqual([undefined, 3]);
  });

  test("and a limit that is used up is said", () => {
    const once = {
      limits: { ...settings().limits, maxIterationsPerTask: 1 },
    };
    const explanation = explained([round(1)], once);
    expect(texts(explanation)[0]).toContain("It has used up its 1 iteration of this run.");
    expect(explanation.headline).toBe("one has used up its iterations of this run.");
  });
});
