import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import stringWidth from "string-width";
import type { Event } from "../../src/core/events.ts";
import type { Model, Size } from "../../src/tui/model.ts";
import { runStarted, task, tasksObserved } from "../spec/given.ts";
import { busyNight, busyTeam, hearing, model, pressing, scene } from "./scenes.ts";

// Frames tell the time, and have colours, wherever the tests run.
process.env["TZ"] = "UTC";
process.env["FORCE_COLOR"] = "1";
const { renderToString } = await import("ink");
const { MonitorView } = await import("../../src/tui/monitor-view.tsx");

const SMALL = { columns: 80, rows: 24 };
const WIDE = { columns: 120, rows: 40 };
const HUGE = { columns: 200, rows: 50 };

function frame(of: Model, hasColours = false): string {
  const text = renderToString(createElement(MonitorView, { model: of, hasColours }), {
    columns: of.size.columns,
  });
  return `${text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd()}\n`;
}

const FRAMES: readonly (readonly [name: string, of: Model])[] = [
  ["a busy night at 80×24", model(busyNight(), SMALL)],
  ["a busy night at 120×40", model(busyNight(), WIDE)],
  ["a busy night at 200×50", model(busyNight(), HUGE)],
  ["workers at 80×24", model(busyTeam(), SMALL)],
  ["workers at 120×40", model(busyTeam(), WIDE)],
  ["no worker", model(busyTeam([]), SMALL)],
  ["a prompt that waits", waiting()],
  ["the end of its own run", ended()],
  ["no run yet", model(scene([], { isDriven: false, calls: 0 }), SMALL)],
  ["an answer", pressing(model(busyNight(), SMALL), "a", "2").model],
  ["a message", pressing(model(busyNight(), SMALL), "s", "use v2").model],
  ["a cancel", pressing(model(busyNight(), SMALL), "c").model],
  ["a refusal", pressing(model(busyNight(), SMALL), "r").model],
  ["a filter", pressing(model(busyNight(), SMALL), "f", "blocked", "enter").model],
  ["a task", pressing(model(busyNight(), SMALL), "jj", "d").model],
  ["help", pressing(model(busyNight(), SMALL), "?").model],
  ["a transcript", transcript()],
  ["a transcript of a program", ofProgram()],
  ["a transcript of a program, unfolded", pressing(ofProgram(), "e", "g").model],
  ["leaving", pressing(model(busyNight(), SMALL, { pid: 1, exitCode: null }), "q").model],
];

function waiting(): Model {
  const source = { kind: "prompt", label: "prompt.md", path: "prompt.md" } as const;
  const until = Date.UTC(2026, 10, 15, 15);
  const wait: Event = {
    type: "wait.started",
    run: "run-1",
    until,
    why: "the calls of this hour are used up",
  };
  return model(scene([runStarted({ source }), tasksObserved(task("prompt")), wait]), SMALL);
}

function ended(): Model {
  const end: Event = { type: "run.ended", run: "run-1", outcome: "blocked", reason: "2 tasks are blocked" };
  const seen = scene([runStarted(), tasksObserved(task("one")), end], { isDriven: false });
  return hearing(model(seen, SMALL, { pid: 1, exitCode: null }), { is: "run-ended", exitCode: 2 }).model;
}

function ofProgram(): Model {
  const text = readFileSync(join(import.meta.dirname, "../recordings/claude/perm-default.jsonl"), "utf8");
  return hearing(
    model(busyNight(), SMALL),
    { is: "opened", task: "auth-001", iteration: 3 },
    { is: "read", iteration: 3, transcript: { size: text.length, text, isCut: false } },
  ).model;
}

function transcript(): Model {
  const text = Array.from(
    { length: 30 },
    (_, line) => `${line} \x1b[1m漢字\x1b[0m ${"word ".repeat(20)}`,
  ).join("\n");
  const size = Buffer.byteLength(text);
  return hearing(
    model(busyNight(), SMALL),
    { is: "opened", task: "auth-001", iteration: 3 },
    { is: "read", iteration: 3, transcript: { size, text, isCut: false } },
  ).model;
}

describe("frames", () => {
  test.each(FRAMES)("%s", async (name, of) => {
    await expect(frame(of)).toMatchFileSnapshot(`frames/${name.replaceAll(/[ ×]/g, "-")}.txt`);
  });

  test.each(FRAMES)("%s never leaves the window", (_, of) => {
    for (const size of [
      of.size,
      { columns: 40, rows: 12 },
      { columns: 57, rows: 17 },
      { columns: 101, rows: 28 },
    ]) {
      const lines = renderedLines({ ...of, size });
      expect(lines.length).toBeLessThan(size.rows);
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(size.columns);
    }
  });

  test("have colours only where they are wanted, and then the same words", () => {
    const night = model(busyNight(), SMALL);
    expect(frame(night, true)).toContain("\x1b[3");
    expect(frame(night, false)).not.toContain("\x1b");
    // oxlint-disable-next-line no-control-regex -- these are the colours
    const words = frame(night, true).replaceAll(/\x1b\[[0-9;]*m/g, "");
    expect(trimmed(words)).toBe(trimmed(frame(night, false)));
  });

  test("of a window that is too small say so", () => {
    expect(frame(model(busyNight(), { columns: 39, rows: 24 }))).toContain("This window is too small");
  });
});

function renderedLines(of: Model & { readonly size: Size }): readonly string[] {
  return frame(of).trimEnd().split("\n");
}

function trimmed(text: string): string {
  return text.replaceAll(/ +$/gm, "");
}
