import { describe, expect, test } from "vitest";
import { diffLines } from "../../src/web/client/diff-lines.ts";
import {
  dollars,
  duration,
  elapsed,
  forecastSentence,
  sentence,
  shortId,
} from "../../src/web/client/format.ts";
import { moved, zoomed } from "../../src/web/client/timeline-scale.ts";
import type { EntryPage } from "../../src/core/views/overview.ts";
import type { TranscriptEntry } from "../../src/core/views/transcript.ts";
import { EMPTY_WINDOW, entriesOf, withPage } from "../../src/web/client/transcript-reader.ts";

describe("words and numbers", () => {
  test.each([
    [800, "0.8s"],
    [59_000, "59s"],
    [323_000, "5m 23s"],
    [3_600_000, "1h"],
    [90_000_000, "1d 1h"],
  ])("%i ms are %s", (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  test("what goes on has no fractions", () => {
    expect(elapsed(1_900)).toBe("1s");
  });

  test("small sums keep a digit more, and what nobody told is a dash", () => {
    expect([dollars(0), dollars(0.041), dollars(12.5), dollars(null)]).toEqual([
      "$0.00",
      "$0.041",
      "$12.50",
      "–",
    ]);
  });

  test("a sentence has a capital and an end, but a name stays as it is", () => {
    expect(sentence('gate "lint" failed')).toBe('Gate "lint" failed.');
    expect(sentence("ui-004 asks")).toBe("ui-004 asks.");
    expect(sentence("  Why? ")).toBe("Why?");
    expect(sentence("")).toBe("");
  });

  test("only long ids are cut", () => {
    expect(shortId("b1fe3936-f5ff-42bc-a0bd-4a404928ab19")).toBe("b1fe3936");
    expect(shortId("night-1")).toBe("night-1");
  });

  test("the forecast says whether the budget is enough, and until when", () => {
    const now = Date.UTC(2026, 0, 1);
    const about = { budgetUsd: 10, spentUsd: 4, planUsd: 8, reachedAt: null };
    expect(forecastSentence(about, now)).toContain("the whole plan costs $8.00. The budget is enough.");
    expect(forecastSentence({ ...about, planUsd: 20, reachedAt: now + 3_600_000 }, now)).toContain("(in 1h)");
    expect(forecastSentence({ ...about, planUsd: null }, now)).toContain("too early");
    expect(forecastSentence(null, now)).toBeNull();
  });
});

describe("a change set", () => {
  test("has the numbers of its lines", () => {
    const lines = diffLines("@@ -7,2 +7,3 @@ f\n same\n-old\n+new\n+more\n\\ No newline at end of file\n");
    expect(lines.map(({ is, old, new: now }) => [is, old, now])).toEqual([
      ["place", null, null],
      ["same", 7, 7],
      ["removed", 8, null],
      ["added", null, 8],
      ["added", null, 9],
      ["note", null, null],
    ]);
  });

  test.each(["", "@@", "no diff at all", "+", "@@ -0,0 +1 @@\n+<script>"])(
    "of any text %j is lines of text",
    (text) => {
      expect(diffLines(text).length).toBeGreaterThan(0);
    },
  );
});

describe("a transcript", () => {
  const entry = (place: number, title: string, more: Partial<TranscriptEntry> = {}): TranscriptEntry => ({
    kind: "text",
    at: null,
    costUsd: null,
    place,
    title,
    brief: "",
    state: "good",
    isNested: false,
    call: "",
    input: "",
    result: "",
    diff: "",
    ...more,
  });
  const page = (from: number, to: number, entries: readonly TranscriptEntry[], isEnd = false): EntryPage => ({
    from,
    to,
    bytes: 1_000_000,
    isEnd,
    entries,
  });
  const titles = (window: Parameters<typeof entriesOf>[0]) => entriesOf(window).map(({ title }) => title);

  test("is put together from pages on both sides", () => {
    const middle = withPage(EMPTY_WINDOW, page(10, 20, [entry(10, "c")]), "after");
    const before = withPage(middle, page(0, 14, [entry(0, "a"), entry(5, "b"), entry(10, "c")]), "before");
    const window = withPage(before, page(20, 30, [entry(20, "d")], true), "after");
    expect(window).toMatchObject({ from: 0, to: 30, isEnd: true });
    expect(titles(window)).toEqual(["a", "b", "c", "d"]);
  });

  test("gets what was under way again, complete, and small pages become one", () => {
    const running = entry(5, "Run npm test", { call: "1", state: "open" });
    const open = withPage(EMPTY_WINDOW, page(0, 5, [entry(0, "a"), running], true), "after");
    const done = withPage(open, page(5, 30, [{ ...running, state: "good" }, entry(25, "b")], true), "after");
    expect(entriesOf(done).map(({ title, state }) => `${state} ${title}`)).toEqual([
      "good a",
      "good Run npm test",
      "good b",
    ]);
    expect(done.pages).toHaveLength(1);
  });

  test("has a call once whose end came on another page", () => {
    const end = withPage(EMPTY_WINDOW, page(50, 90, [entry(60, "Run make", { call: "1" })], true), "after");
    const window = withPage(end, page(0, 70, [entry(10, "Run make", { call: "1" })]), "before");
    expect(entriesOf(window).map(({ place }) => place)).toEqual([10]);
  });

  test("of any length is kept in part only", () => {
    let window = EMPTY_WINDOW;
    for (let at = 0; at < 100; at += 1)
      window = withPage(window, page(at * 64_000, (at + 1) * 64_000, [entry(at * 64_000, "x")]), "after");
    expect(window.pages.length).toBeLessThan(20);
    expect(window.to).toBe(6_400_000);
    expect(window.from).toBe(window.to - window.pages.length * 64_000);
  });

  test("tells the cost where it has grown, and gives entries of one line keys of their own", () => {
    const costs = [null, 0.1, 0.1, 0.2].map((costUsd, at) => entry(at < 2 ? 0 : at, "x", { costUsd }));
    const shown = entriesOf(withPage(EMPTY_WINDOW, page(0, 9, costs), "after"));
    expect(shown.map(({ costUsd }) => costUsd)).toEqual([null, 0.1, null, 0.2]);
    expect(shown.map(({ key }) => key)).toEqual(["0.0", "0.1", "2.0", "3.0"]);
  });
});

describe("the time line", () => {
  const whole = { from: 0, to: 100_000 };

  test("zooms around a moment and never beyond the run", () => {
    expect(zoomed(whole, whole, 0.5, 50_000)).toEqual({ from: 25_000, to: 75_000 });
    expect(zoomed(whole, whole, 0.5, 0)).toEqual({ from: 0, to: 50_000 });
    expect(zoomed({ from: 0, to: 50_000 }, whole, 4, 10_000)).toBeNull();
    expect(zoomed({ from: 0, to: 1_000 }, whole, 0.1, 500)).toEqual({ from: 0, to: 1_000 });
  });

  test("moves and stops at the ends", () => {
    expect(moved({ from: 0, to: 10_000 }, whole, 5_000)).toEqual({ from: 5_000, to: 15_000 });
    expect(moved({ from: 0, to: 10_000 }, whole, -5_000)).toEqual({ from: 0, to: 10_000 });
    expect(moved({ from: 80_000, to: 90_000 }, whole, 50_000)).toEqual({ from: 90_000, to: 100_000 });
  });
});
