import { describe, expect, test } from "vitest";
import { busyNight, hearing, model, pressing } from "../../test/tui/scenes.ts";
import type { Model } from "./model.ts";
import type { Pager } from "./pager.ts";

const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join("");

function opened(text: string, isCut = false): Model {
  const transcript = { text, size: Buffer.byteLength(text), isCut };
  return hearing(
    model(busyNight()),
    { is: "opened", task: "auth-001", iteration: 3 },
    { is: "read", iteration: 3, transcript },
  ).model;
}

function pagerIn({ mode }: Model): Pager {
  if (mode.is !== "pager") throw new Error("no transcript is open");
  return mode.pager;
}

const topOf = (of: Model): string => pagerIn(of).rows[pagerIn(of).top] ?? "";

describe("a transcript", () => {
  test("opens at its end, and follows it only when it has grown", () => {
    const { model: asked, requests } = pressing(model(busyNight()), "l");
    expect(requests).toEqual([{ want: "open", task: "auth-001" }]);
    const at = hearing(asked, { is: "opened", task: "auth-001", iteration: 3 });
    expect(at.requests).toEqual([{ want: "read", iteration: 3, unlessSize: null }]);
    const shown = opened(lines(1, 100));
    expect(topOf(shown)).toBe("line 80");
    const unlessSize = pagerIn(shown).transcript?.size;
    expect(hearing(shown, { is: "polled" }).requests).toEqual([{ want: "read", iteration: 3, unlessSize }]);
    expect(hearing(shown, { is: "read", iteration: 3, transcript: null }).model).toEqual(shown);
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

  test("that is long begins with where the rest is", () => {
    expect(topOf(pressing(opened(lines(1, 100), true), "g").model)).toBe("… earlier output: ralph logs 3");
  });

  test("is searched from where one stands, forwards and back, and goes on at the other end", () => {
    const found = pressing(opened(lines(1, 100)), "g", "/", "Line 7", "enter").model;
    expect(topOf(found)).toBe("line 4");
    expect(topOf(pressing(found, "n").model)).toBe("line 67");
    expect(topOf(pressing(found, "n", "N").model)).toBe("line 4");
    expect(topOf(pressing(found, "N").model)).toBe("line 76");
    expect(pagerIn(found).follows).toBe(false);
    expect(pressing(found, "/", "no", "enter").model.says?.text).toBe('"no" is not in this transcript');
  });

  test("is wrapped by the width of characters, without their escapes", () => {
    const wide = "漢".repeat(50);
    const { rows } = pagerIn(opened(`\x1b[31m${wide}\x1b[0m\r\n${"x".repeat(81)}\n\nend`));
    expect(rows).toEqual(["漢".repeat(40), "漢".repeat(10), "x".repeat(80), "x", "", "end"]);
  });

  test("is wrapped anew in a window of another width", () => {
    const resized = hearing(opened("x".repeat(100)), { is: "resized", size: { columns: 40, rows: 20 } });
    expect(pagerIn(resized.model).rows).toHaveLength(3);
  });
});
