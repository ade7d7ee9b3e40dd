import { expect, test } from "vitest";
import {
  evidence,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../../../test/spec/given.ts";
import type { State } from "../state.ts";
import { boardOf } from "./overview.ts";

const one = task("one");

/** The columns as a person reads them. */
function columns(state: State): Readonly<Record<string, readonly string[]>> {
  const shown = boardOf(state).columns.map(({ name, cards }) => [
    name,
    cards.map(({ id, loop }) => (loop === null ? id : `${id} ${loop}`)),
  ]);
  return Object.fromEntries(shown) as Record<string, readonly string[]>;
}

test("tasks stand where they are: to do, at work, waiting for a person, done", () => {
  const tasks = [one, task("two"), task("three", { done: true }), task("four")];
  const { state } = given(
    runStarted({ keepGoing: true }),
    tasksObserved(...tasks),
    iterationStarted(1, one),
    iterationEnded(1, one, "undecided"),
    evidence(1, one, []),
  )
    .andThen()
    .andThen(iterationStarted(2, task("two"), { ordinal: 1 }));
  expect(columns(state)).toEqual({
    Todo: ["four"],
    Build: ["two Build (1/30)"],
    Blocked: ["one Build (1/30)"],
    Done: ["three"],
  });
});

test("a card says who works on it where, and what it waits for", () => {
  const asked = given(
    runStarted(),
    tasksObserved(one),
    iterationStarted(1, one, { lane: 1 }),
    iterationEnded(1, one, "undecided"),
    evidence(1, one, []),
  );
  const [working] = boardOf(asked.state).columns.flatMap(({ cards }) => cards);
  expect(working).toMatchObject({ status: "doing", lane: 1, agent: "stub", waitsFor: null });
  const [waiting] = boardOf(asked.andThen().state).columns.flatMap(({ cards }) => cards);
  expect(waiting).toMatchObject({ status: "undecided", lane: null, waitsFor: "this or that?" });
});

test("a pipeline has a column for each stage, with what was begun and waits for its turn", () => {
  const stage = { maxIterations: null, promise: null, agent: null, model: null, loops: true, template: null };
  const stages = [
    { ...stage, name: "coder", maxIterations: 15 },
    { ...stage, name: "review" },
  ];
  const { state } = given(
    runStarted({ stages }),
    tasksObserved(one),
    iterationStarted(1, one, { stage: "coder" }),
    iterationEnded(1, one, "unfinished"),
    evidence(1, one, ["a.ts"]),
  ).andThen();
  expect(columns(state)).toEqual({
    Todo: [],
    Coder: ["one Coder (1/15)"],
    Review: [],
    Blocked: [],
    Done: [],
  });
});

test("without a run there is nothing but empty columns", () => {
  expect(columns(given().state)).toEqual({ Todo: [], Build: [], Blocked: [], Done: [] });
});
