import { expect } from "vitest";
import type { Crew, Fact } from "./crew.ts";

export interface Expected {
  readonly done: readonly string[];
  readonly cancelled?: readonly string[];
  /** Where the base was before anybody began. */
  readonly since: string;
}

/** What has to hold at the end, whoever worked and whatever happened to them; answers the facts. */
export async function expectSound(crew: Crew, expected: Expected): Promise<readonly Fact[]> {
  const facts = await crew.events();
  expectDoneOnce(crew, facts, expected);
  expectNumbered(facts);
  expectLeftAlone(facts);
  expectKnownCommits(crew, facts, expected);
  const cancelled = (expected.cancelled ?? []).map((task) => `ralph/${task}`);
  const remains = await crew.remains();
  expect(remains.filter((what) => !cancelled.some((branch) => what.includes(branch)))).toEqual([]);
  return facts;
}

function expectDoneOnce(crew: Crew, facts: readonly Fact[], { done, cancelled = [] }: Expected): void {
  for (const type of ["task.completed", "task.merged"])
    expect({ type, tasks: tasksOf(facts, type).toSorted() }).toEqual({ type, tasks: done.toSorted() });
  const list = crew.git("show", "main:TODO.md");
  for (const task of done) {
    expect(crew.git("show", `main:${task}.txt`)).toBe(task);
    expect(crew.git("log", "--format=%h", "main", "--", `${task}.txt`).split("\n")).toHaveLength(1);
    expect(list).toContain(`- [x] **${task}**`);
  }
  for (const task of cancelled) {
    expect(crew.git("ls-tree", "--name-only", "main", `${task}.txt`)).toBe("");
    expect(list).toContain(`- [ ] **${task}**`);
  }
}

/** One after the other, each begun, ended and judged once; and so are the task's own. */
function expectNumbered(facts: readonly Fact[]): void {
  const started = facts.filter(({ type }) => type === "iteration.started");
  const inOrder = started.map((_, index) => index + 1);
  expect(started.map(({ iteration }) => iteration)).toEqual(inOrder);
  for (const type of ["iteration.ended", "evidence.collected", "verdict.reached"]) {
    const numbers = facts.filter((fact) => fact.type === type).map(({ iteration }) => iteration);
    expect({ type, numbers: numbers.toSorted((a = 0, b = 0) => a - b) }).toEqual({ type, numbers: inOrder });
  }
  for (const [task, own] of Map.groupBy(started, (fact) => fact.task))
    expect([task, ...own.map(({ ordinal }) => ordinal)]).toEqual([task, ...own.map((_, index) => index + 1)]);
}

/** Whoever was told late to work on a task that is done does not begin with it. */
function expectLeftAlone(facts: readonly Fact[]): void {
  const completed = facts.filter(({ type }) => type === "task.completed");
  const taken = facts.filter(({ type }) => type === "task.taken");
  const late = taken.filter((one) =>
    completed.some(({ task, position }) => task === one.task && position < one.position),
  );
  expect(late).toEqual([]);
}

/** Nothing came from the past: the log knows of each commit that it was pushed, or merged. */
function expectKnownCommits(crew: Crew, facts: readonly Fact[], { since }: Expected): void {
  const pushed = facts.map(({ evidence }) => evidence?.head_after);
  const merged = facts.filter(({ type }) => type === "task.merged").map(({ to }) => to);
  const known = new Set([...pushed, ...merged]);
  const there = crew.git("rev-list", "--branches", "--glob=refs/ralph/merged", `^${since}`).split("\n");
  const strange = there.filter((commit) => commit !== "" && !known.has(commit));
  expect(strange.map((commit) => crew.git("log", "-1", "--format=%H%n%B", commit))).toEqual([]);
}

export function tasksOf(facts: readonly Fact[], type: string): readonly string[] {
  return facts.filter((fact) => fact.type === type).map(({ task }) => task ?? "");
}

/** How the iterations of a task ended, in their order. */
export function endingsOf(facts: readonly Fact[], task: string): readonly string[] {
  return facts
    .filter((fact) => fact.type === "iteration.ended" && fact.task === task)
    .map(({ report }) => report?.ending.is ?? "");
}
