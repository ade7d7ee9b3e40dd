import { costRows } from "../../src/core/report/run-report.ts";
import { laneRows } from "../../src/core/views/overview.ts";
import { iterationRows } from "../../src/core/views/iteration-record.ts";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { UNKNOWN_USAGE, type Signals } from "../../src/core/streams/agent-report.ts";
import type { Evidence } from "../../src/core/verdict/evidence.ts";
import { ownerOf } from "../../src/core/loop/effects.ts";
import { recover } from "../../src/engine/engine.ts";
import { fencesOf } from "../../src/engine/worker/holdings.ts";
import type { Settings, VerifySettings } from "../../src/core/settings.ts";
import { historyEntry } from "../../src/core/views/iteration-entries.ts";
import { iterationRecords } from "../../src/core/views/iteration-record.ts";
import type { Reading, Review } from "../../src/core/verdict/reader.ts";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login", { criteria: ["it logs in", "`npm test` passes"] });
const other = task("other");
const GATED: Partial<Settings> = { gates: [TESTS_GATE] };
const TOUCHED = { checkFiles: ["test/login.test.ts"] };

function verify(more: Partial<VerifySettings>): Partial<Settings> {
  const { verify: usual } = settings();
  if (usual === undefined) throw new Error("the settings say how claims are verified");
  return { ...GATED, verify: { ...usual, ...more } };
}

/** A claim in iteration 1, up to what git shows. */
function claim(
  of: Partial<Settings>,
  found: Partial<Evidence> = {},
  said: Partial<Signals> = {},
): readonly Event[] {
  return [
    runStarted(of),
    tasksObserved(login, other),
    iterationStarted(1, login),
    iterationEnded(1, login, "complete", { signals: signals(said) }),
    evidence(1, login, ["a.ts"], found),
  ];
}

function oldChecks(status: "passed" | "failed", files = TOUCHED.checkFiles): Event {
  const checked = gatesChecked(1, login, { status, exitCode: 1, failures: ["logs in"] });
  const gates = "gates" in checked ? checked.gates : [];
  return {
    type: "old-checks.ran",
    run: "run-1",
    task: "login",
    iteration: 1,
    durationMs: 5,
    oldChecks: { files, gates: gates as never },
  };
}

function read(review: Partial<Review> | null, more: Partial<Reading> = {}): Event {
  const reading: Reading = {
    agent: "stub",
    review: review && { criteria: [], concerns: [], ...review },
    failure: review === null ? "overloaded" : null,
    undone: [],
    usage: UNKNOWN_USAGE,
    durationMs: 5,
    ...more,
  };
  return { type: "reader.answered", run: "run-1", task: "login", iteration: 1, reading };
}

const green = gatesChecked(1, login, {});
const ASKED = { type: "question.asked", options: ["accept", "reject"] } as const;

describe("old checks", () => {
  test("run after green gates when a check file was touched, and only then", () => {
    given(...claim(GATED, TOUCHED)).wants("gates:1");
    given(...claim(GATED, TOUCHED), green).wants("old-checks:1");
    given(...claim(GATED), green).wants("verdict:1");
    given(...claim(GATED, TOUCHED), gatesChecked(1, login, { status: "failed" })).wants("verdict:1");
    given(...claim(verify({ oldChecks: "never" }), TOUCHED), green).wants("verdict:1");
  });

  test("that pass accept the claim, and the certificate says so", () => {
    given(...claim(GATED, TOUCHED), green, oldChecks("passed")).decides(
      { type: "verdict.reached", verdict: "accepted", concerns: [] },
      { type: "task.completed", certificate: { oldChecks: { files: TOUCHED.checkFiles } } } as never,
    );
  });

  test.each([true, false])("that fail become a question, and other tasks go on (%s)", (keepGoing) => {
    const asked = given(...claim({ ...GATED, keepGoing }, TOUCHED), green, oldChecks("failed"));
    asked.decides({ type: "verdict.reached", verdict: "decide" }, ASKED);
    const published = {
      type: "letter.published",
      task: "login",
      kind: "decide",
      file: "x",
      sha256: "",
    } as const;
    asked.andThen(published).wants("iterate:other");
  });

  test("that a person accepts complete the task without another agent", () => {
    const asked = given(...claim(GATED, TOUCHED), green, oldChecks("failed"));
    const answer = { type: "question.answered", task: "login", answer: "accept", by: "person" } as const;
    asked.andThen(answer).decides({
      type: "task.completed",
      commit: "h1",
      certificate: { person: "accept", concerns: [{ name: "old-checks-fail", settledBy: "person" }] },
    } as never);
  });

  test("that a person rejects are the next prompt's feedback", () => {
    const asked = given(...claim(GATED, TOUCHED), green, oldChecks("failed"));
    const answer = "reject: keep the test of logging in";
    const rejected = asked.andThen({ type: "question.answered", task: "login", answer, by: "person" });
    expect(rejected.nextPrompt(login)).toContain(answer);
    expect(rejected.nextPrompt(login)).toContain("test/login.test.ts");
  });

  test("that a person rejects below an acceptance that an agent wrote stay open", () => {
    const asked = given(...claim(GATED, TOUCHED), green, oldChecks("failed"));
    const answer = "accept\nreject: keep the test";
    asked.andThen({ type: "question.answered", task: "login", answer, by: "person" }).wants("iterate:login");
  });

  test("that a person accepts in a shared run are recorded by the keeper, who holds no task then", () => {
    const asked = given(...claim({ ...GATED, shared: true }, TOUCHED), green, oldChecks("failed"));
    const answer = { type: "question.answered", task: "login", answer: "accept", by: "person" } as const;
    const accepted = asked.andThen(answer);
    const [effect] = accepted.effects;
    if (effect?.kind !== "record") throw new Error("nothing is recorded");
    expect(ownerOf(effect, accepted.state)).toBe("@keeper");
    expect(fencesOf(effect.events)).toEqual(["@keeper"]);
  });

  test.each([
    ["reject", "rejected"],
    ["accept", "accepted"],
  ] as const)("that fail with old_checks_fail = %s: the claim is %s", (oldChecksFail, verdict) => {
    const [first] = given(...claim(verify({ oldChecksFail }), TOUCHED), green, oldChecks("failed")).effects;
    expect(first).toMatchObject({ events: [{ type: "verdict.reached", verdict }, {}] });
  });

  test("lead to the next stage when a person accepts them in a pipeline", () => {
    const stage = {
      maxIterations: null,
      promise: null,
      agent: null,
      model: null,
      loops: true,
      template: null,
    };
    const stages = [
      { name: "build", ...stage },
      { name: "reviewer", ...stage },
    ];
    const asked = given(...claim({ ...GATED, stages }, TOUCHED), green, oldChecks("failed"));
    asked
      .andThen({ type: "question.answered", task: "login", answer: "accept", by: "person" })
      .decides({ type: "stage.passed", stage: "build", next: "reviewer" });
  });
});

describe("a second reader", () => {
  const reading = (more: Partial<VerifySettings> = {}): Partial<Settings> =>
    verify({ readers: ["stub"], ...more });

  test("is asked when there is a doubt, or no gate, or always", () => {
    given(...claim(reading(), TOUCHED), green, oldChecks("failed")).wants("reader:1");
    given(...claim(reading(), TOUCHED), green, oldChecks("passed")).wants("verdict:1");
    given(...claim({ ...reading(), gates: [] })).wants("reader:1");
    given(...claim(reading({ reader: "always" })), green).wants("reader:1");
    given(...claim(reading({ reader: "never" }), TOUCHED), green, oldChecks("failed")).wants("verdict:1");
  });

  test("is not asked when the agent is a command of one's own that nobody named", () => {
    given(...claim({ ...verify({ readers: ["claude"] }), gates: [] })).wants("verdict:1");
    given(...claim({ ...verify({ readerAgent: "mine" }), gates: [] })).wants("reader:1");
  });

  test("that calls a concern harmless lets the claim pass, and the certificate names it", () => {
    const review = {
      criteria: [{ criterion: 1, answer: "met", reason: "see login.ts" }],
      concerns: [{ concern: 1, answer: "harmless", reason: "the task removes it" }],
    } as const;
    given(...claim(reading(), TOUCHED), green, oldChecks("failed"), read(review)).decides(
      { type: "verdict.reached", verdict: "accepted" },
      {
        type: "task.completed",
        certificate: {
          reader: "stub",
          concerns: [{ name: "old-checks-fail", settledBy: "reader", answer: "the task removes it" }],
          criteria: [
            { criterion: "it logs in", by: "reader" },
            { criterion: "`npm test` passes", by: "gate" },
          ],
        },
      } as never,
    );
  });

  test("gates are all that checked a task without criteria", () => {
    given(
      runStarted(GATED),
      tasksObserved(other),
      iterationStarted(1, other),
      iterationEnded(1, other, "complete"),
      evidence(1, other, ["a.ts"]),
      gatesChecked(1, other, {}),
    ).decides({ type: "verdict.reached", verdict: "accepted" }, {
      type: "task.completed",
      certificate: { criteria: [{ criterion: other.title, by: "gate", how: "tests" }] },
    } as never);
  });

  test.each<[string, Partial<Review>]>([
    ["a concern real", { concerns: [{ concern: 1, answer: "real", reason: "the test is gone" }] }],
    ["a criterion not met", { criteria: [{ criterion: 1, answer: "not_met", reason: "the test is gone" }] }],
  ])("that calls %s rejects the claim, and its reason is in the next prompt", (_what, review) => {
    const rejected = given(...claim(reading(), TOUCHED), green, oldChecks("failed"), read(review));
    expect(rejected.effects[0]).toMatchObject({ events: [{ verdict: "rejected" }, {}] });
    expect(rejected.andThen().nextPrompt(login)).toContain("the test is gone");
  });

  test("that cannot tell is a note", () => {
    const review = { criteria: [{ criterion: 1, answer: "cannot_tell", reason: "no server here" }] } as const;
    const [first] = given(...claim({ ...reading(), gates: [] }), read(review)).effects;
    expect(first).toMatchObject({ events: [{ verdict: "accepted" }, {}] });
    expect(JSON.stringify(first)).toContain("no server here");
  });

  test("that fails counts as none, costs no attempt, and this is said", () => {
    const failed = given(...claim(reading(), TOUCHED), green, oldChecks("failed"), read(null));
    failed.decides({ type: "verdict.reached", verdict: "decide" }, ASKED);
    expect(JSON.stringify(failed.effects)).toContain("no second reader: overloaded");
    expect(failed.andThen().state.tasks["login"]).toMatchObject({ attempts: 0, failures: 0 });
  });

  test("that leaves a concern without an answer leaves it open", () => {
    const met = { criteria: [{ criterion: 1, answer: "met", reason: "" }] } as const;
    given(...claim(reading(), TOUCHED), green, oldChecks("failed"), read(met)).decides(
      { type: "verdict.reached", verdict: "decide" },
      ASKED,
    );
  });

  test("whose process outlives Ralph is ended by the next start, and its checkout cleared", async () => {
    const asked = { run: "run-1", task: "login", iteration: 1, agent: "stub", marker: "reading" } as const;
    const { state } = given(...claim({ ...reading(), gates: [] }), { type: "reader.asked", ...asked });
    const done: string[] = [];
    const note = (what: string) => async (marker?: string) => void done.push(`${what} ${marker ?? ""}`);
    const ports = {
      agents: { sweep: note("sweep") },
      parallel: { worktrees: { clearLeftovers: note("clear checkouts") } },
      workspace: { clearLeftovers: note("clear workspace") },
    };
    await recover(ports as never, state);
    expect(done).toContain("sweep reading");
    expect(done).toContain("clear checkouts ");
  });

  test("costs money, and is no iteration", () => {
    const usage = { ...UNKNOWN_USAGE, costUsd: 0.25 };
    const { run, tasks } = given(...claim({ ...reading(), gates: [] }), read({}, { usage })).state;
    expect(run).toMatchObject({ iterations: 1, spend: { usd: 0.25, known: 0 } });
    expect(tasks["login"]?.spend.usd).toBe(0.25);
  });

  test("is what a lane is busy with, after the gates and the old checks", () => {
    const doing = (...more: readonly Event[]): string | undefined =>
      laneRows(given(...claim(reading(), TOUCHED), ...more).state)[0]?.work?.doing;
    expect([doing(), doing(green), doing(green, oldChecks("failed"))]).toEqual([
      "gates",
      "old-checks",
      "reader",
    ]);
    expect(doing(green, oldChecks("passed"))).toBe("verdict");
  });

  test("adds to the cost of its iteration, and has a row of its own among the costs", () => {
    const usage = { ...UNKNOWN_USAGE, costUsd: 0.25 };
    const events = [...claim({ ...reading(), gates: [] }), read({}, { usage, agent: "critic" })];
    const recorded = events.map((event, at) => ({ ...event, position: at + 1, at }));
    expect(iterationRecords(recorded).map(historyEntry)).toMatchObject([
      { cost_usd: 0.25, reader: { agent: "critic", cost_usd: 0.25, failure: null }, old_checks: null },
    ]);
    expect(iterationRows(recorded)).toMatchObject([{ costUsd: 0.25 }]);
    expect(costRows(recorded)).toMatchObject([
      { agent: "stub", iterations: 1, costUsd: null },
      { agent: "critic", iterations: 0, costUsd: 0.25 },
    ]);
  });

  test("that is limited pauses its agent, not the task", () => {
    const limited = read(null, { limitedUntil: 5 });
    expect(given(...claim({ ...reading(), gates: [] }), limited).state.agentLimits).toEqual({ stub: 5 });
  });
});

describe("without a reader", () => {
  const OFF = { suppressions: ["a.ts: // eslint-disable-line"] };

  test.each<[string, Partial<Settings>, Partial<Evidence>, Partial<Signals>]>([
    ["checks are switched off", GATED, OFF, {}],
    ["only white space changed", GATED, { isWhiteSpaceOnly: true }, {}],
    ["words speak against it and no gate checks", {}, {}, { contradictions: ["I still need to do b."] }],
    ["files are not found and no gate checks", {}, { phantoms: ["b.ts"] }, {}],
  ])("a claim is challenged once when %s", (_when, of, found, said) => {
    const events = [...claim(of, found, said), ...(of.gates === undefined ? [] : [green])];
    const challenged = given(...events).andThen();
    expect(challenged.state.tasks["login"]).toMatchObject({ attempts: 0, failures: 0 });
    expect(challenged.state.breaker.noProgress).toBe(0);
    expect(challenged.nextPrompt(login)).toContain("is not accepted yet");
    const again = (answer: string | null): unknown => {
      const answers = answer === null ? [] : [{ about: "concern" as const, number: 1, text: answer }];
      const second = challenged.andThen(
        iterationStarted(2, login),
        iterationEnded(2, login, "complete", { signals: signals({ ...said, answers }) }),
        evidence(2, login, [], { ...found, changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } }),
        ...(of.gates === undefined ? [] : [gatesChecked(2, login, {})]),
      );
      const [first] = second.effects;
      return first;
    };
    expect(again(null)).toMatchObject({ events: [{ verdict: "rejected" }, {}, {}] });
    expect(again("it is meant so")).toMatchObject({
      events: [
        { verdict: "accepted" },
        {
          certificate: {
            concerns: expect.arrayContaining([expect.objectContaining({ settledBy: "agent" })]),
          },
        },
      ],
    });
  });

  test("words are notes and nothing more when every gate is green", () => {
    const events = claim(GATED, { phantoms: ["b.ts"] }, { contradictions: ["tests fail"] });
    given(...events, green).decides(
      { type: "verdict.reached", verdict: "accepted" },
      { type: "task.completed" },
    );
  });

  test("words that are merely left out the second time have answered nothing", () => {
    const challenged = given(...claim({}, {}, { contradictions: ["I still need to do b."] })).andThen(
      iterationStarted(2, login),
      iterationEnded(2, login, "complete", { signals: signals({}) }),
      evidence(2, login, [], { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } }),
    );
    expect(challenged.effects[0]).toMatchObject({ events: [{ verdict: "rejected" }, {}, {}] });
  });

  test("a concern that was mended needs no answer", () => {
    const mended = given(...claim(GATED, OFF), green).andThen(
      iterationStarted(2, login),
      iterationEnded(2, login, "complete", { signals: signals({}) }),
      evidence(2, login, ["a.ts"]),
      gatesChecked(2, login, {}),
    );
    expect(mended.effects[0]).toMatchObject({ events: [{ verdict: "accepted" }, {}] });
  });

  test("verify = false leaves out all of it", () => {
    const promise = { completion: "COMPLETE", requireXml: true, verify: false };
    given(...claim({ ...GATED, promise }, { ...TOUCHED, ...OFF }), green).wants("verdict:1");
  });

  test("a single attempt is not challenged: there is no second one", () => {
    const once = task("login", { loops: false });
    given(
      runStarted(GATED),
      tasksObserved(once),
      iterationStarted(1, once, { maxIterations: 1 }),
      iterationEnded(1, once, "none"),
      evidence(1, once, ["a.ts"], OFF),
      gatesChecked(1, once, {}),
    ).decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
  });
});

describe("a claim that it is already done", () => {
  const begun = [runStarted(GATED), tasksObserved(login), iterationStarted(1, login)];
  const said = iterationEnded(1, login, { is: "already-done", reason: "see b.ts" });

  test("is asked about when the gates are green, and costs no attempt", () => {
    given(...begun, said, evidence(1, login, [])).wants("gates:1");
    const asked = given(...begun, said, evidence(1, login, []), green);
    asked.decides({ type: "verdict.reached", verdict: "decide" }, ASKED);
    expect(JSON.stringify(asked.effects)).toContain("see b.ts");
    const opinion = read({ criteria: [{ criterion: 1, answer: "met", reason: "b.ts:3 does it" }] });
    const read1 = given(...begun, said, evidence(1, login, []), green, opinion);
    expect(JSON.stringify(read1.effects)).toContain("the second reader agrees: b.ts:3 does it");
    expect(asked.andThen().state.tasks["login"]).toMatchObject({ attempts: 0, failures: 0 });
    asked
      .andThen({ type: "question.answered", task: "login", answer: "accept", by: "person" })
      .decides({ type: "task.completed" });
  });

  test("is rejected when a gate is red", () => {
    const red = gatesChecked(1, login, { status: "failed", exitCode: 1 });
    const [first] = given(...begun, said, evidence(1, login, []), red).effects;
    expect(first).toMatchObject({ events: [{ verdict: "rejected" }, {}, {}] });
  });
});

test("a task that needs no change of files is accepted without one", () => {
  const look = task("look", { changes: "none" });
  given(
    runStarted(GATED),
    tasksObserved(look),
    iterationStarted(1, look),
    iterationEnded(1, look, "complete"),
    evidence(1, look, []),
    gatesChecked(1, look, {}),
  ).decides({ type: "verdict.reached", verdict: "accepted" }, { type: "task.completed" });
});
