import { describe, expect, test } from "vitest";
import { busyNight, hearing, model, pressing } from "../../test/tui/scenes.ts";
import type { Model, Request } from "./model.ts";
import { type Pager, PIECE_BYTES } from "./pager.ts";

const SIZE = 10 * PIECE_BYTES;
const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join("");

function opened(text: string, from = 0, size = from + Buffer.byteLength(text)): Model {
  return hearing(
    model(busyNight()),
    { is: "opened", task: "auth-001", iteration: 3 },
    { is: "read", iteration: 3, piece: { from, to: from + Buffer.byteLength(text), size, text } },
  ).model;
}

function pagerIn({ mode }: Model): Pager {
  if (mode.is !== "pager") throw new Error("no transcript is open");
  return mode.pager;
}

const topOf = (of: Model): string => pagerIn(of).rows[pagerIn(of).top]?.text ?? "";
const wanted = (requests: readonly Request[]): readonly unknown[] =>
  requests.map((request) => (request.want === "read" ? request.from : request.want));

describe("a transcript", () => {
  test("opens at its end, and follows it only when it has grown", () => {
    const { model: asked, requests } = pressing(model(busyNight()), "l");
    expect(requests).toEqual([{ want: "open", task: "auth-001" }]);
    const at = hearing(asked, { is: "opened", task: "auth-001", iteration: 3 });
    expect(at.requests).toEqual([{ want: "read", iteration: 3, from: null, unlessSize: null }]);
    const shown = opened(lines(1, 100));
    expect(topOf(shown)).toBe("line 80");
    const { size } = pagerIn(shown);
    expect(hearing(shown, { is: "polled" }).requests).toEqual([
      { want: "read", iteration: 3, from: null, unlessSize: size },
    ]);
    expect(hearing(shown, { is: "read", iteration: 3, piece: null }).model).toEqual(shown);
  });

  test("of a task that nobody has worked on is none", () => {
    const { model: after } = hearing(model(busyNight()), { is: "opened", task: "api-1", iteration: null });
    expect(after).toMatchObject({ mode: { is: "look" }, says: { text: "api-1 has not been worked on yet" } });
  });

  test("does not follow any more once somebody scrolls, until they come back to the end", () => {
    const up = pressing(opened(lines(1, 100)), "k").model;
    expect(topOf(up)).toBe("line 79");
    expect(hearing(up, { is: "polled" }).requests).toEqual([]);
    expect(pagerIn(pressing(up, "j").model).follows).toBe(true);
    expect(topOf(pressing(up, "g", "G").model)).toBe("line 80");
  });

  test("of any size is read piece by piece", () => {
    const from = SIZE - 900;
    const shown = opened(lines(1, 100), from, SIZE);
    const { model: asked, requests } = pressing(shown, "g", "escape");
    expect(wanted(requests)).toEqual([0]);
    expect(asked.mode.is).toBe("look");
    const before = pressing(shown, "page-up", "page-up", "page-up", "page-up");
    expect(wanted(before.requests)).toEqual([from + 143 - PIECE_BYTES / 2]);
    const text = lines(1, 200);
    const piece = { from: from - 1_000, to: from + 800, size: SIZE, text };
    expect(topOf(hearing(before.model, { is: "read", iteration: 3, piece }).model)).toMatch(/^line \d+$/);
    expect(wanted(pressing(opened(lines(1, 100), 0, SIZE), "G", "j").requests)).toEqual([
      null,
      expect.any(Number),
    ]);
  });

  test("is searched from where one stands, forwards and back", () => {
    const shown = opened(lines(1, 100));
    const { model: searched, requests } = pressing(shown, "g", "/", "Line 7", "enter");
    expect(requests).toEqual([
      { want: "find", iteration: 3, search: { text: "Line 7", from: 21, direction: "forward" } },
    ]);
    const found = hearing(searched, { is: "found", iteration: 3, at: 42 });
    expect(wanted(found.requests)).toEqual([0]);
    const text = lines(1, 100);
    const piece = { from: 0, to: text.length, size: text.length, text };
    const there = hearing(found.model, { is: "read", iteration: 3, piece }).model;
    expect(topOf(there)).toBe("line 4");
    expect(pressing(there, "N").requests).toMatchObject([
      { search: { text: "Line 7", direction: "back", from: 42 } },
    ]);
    expect(hearing(there, { is: "found", iteration: 3, at: null }).model.says?.text).toBe(
      '"Line 7" is not in this transcript',
    );
  });

  test("is wrapped by the width of characters, without their escapes", () => {
    const wide = "漢".repeat(50);
    const { rows } = pagerIn(opened(`\x1b[31m${wide}\x1b[0m\r\n${"x".repeat(81)}\n\nend`));
    expect(rows.map(({ text }) => text)).toEqual([
      "漢".repeat(40),
      "漢".repeat(10),
      "x".repeat(80),
      "x",
      "",
      "end",
    ]);
    expect(rows.map(({ at }) => at)).toEqual([0, 0, 161, 161, 243, 244]);
  });

  test("is wrapped anew in a window of another width", () => {
    const up = pressing(opened(lines(1, 100)), "g").model;
    const { requests } = hearing(up, { is: "resized", size: { columns: 40, rows: 20 } });
    expect(wanted(requests)).toEqual([0]);
  });

  test("with one line of megabytes can be looked at too", () => {
    const { rows } = pagerIn(opened("x".repeat(PIECE_BYTES), 0, SIZE));
    expect(new Set(rows.map(({ at }) => at)).size).toBeGreaterThan(10);
  });
});
