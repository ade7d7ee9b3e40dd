import { describe, expect, test } from "vitest";
import { busyNight, hearing, model, pressing, scene } from "../../test/tui/scenes.ts";
import { runStarted, task, tasksObserved } from "../../test/spec/given.ts";
import { selectedTask } from "./selection.ts";

const night = model(busyNight());

describe("answering", () => {
  test("takes an option by its number", () => {
    const { model: after, requests } = pressing(night, "a", "2", "enter");
    expect(requests).toEqual([{ want: "act", act: { do: "decide", task: "ui-004", answer: "all" } }]);
    expect(after.mode).toEqual({ is: "look" });
  });

  test("takes words that are none of the options, also numbers of none", () => {
    expect(pressing(night, "a", "3 of them", "enter").requests).toMatchObject([
      { act: { answer: "3 of them" } },
    ]);
    expect(pressing(night, "a", "7", "enter").requests).toMatchObject([{ act: { answer: "7" } }]);
  });

  test("wants an answer, and keeps the dialog open without one", () => {
    const { model: after, requests } = pressing(night, "a", "enter");
    expect(requests).toEqual([]);
    expect(after).toMatchObject({
      mode: { is: "type" },
      says: { text: "the answer is empty", isRefusal: true },
    });
  });

  test("is given up with Escape", () => {
    expect(pressing(night, "a", "one", "escape")).toMatchObject({
      model: { mode: { is: "look" } },
      requests: [],
    });
  });

  test("has nothing to do where nobody asks", () => {
    const quiet = model(scene([runStarted(), tasksObserved(task("one"))]));
    expect(pressing(quiet, "a").model.says).toEqual({ text: "no task asks a question", isRefusal: true });
  });

  test("from the inbox is Enter", () => {
    expect(pressing(night, "tab", "enter").model.mode).toMatchObject({
      dialog: { asks: "answer", item: { task: "ui-004" } },
    });
  });
});

describe("other acts", () => {
  test("a message goes to the selected task, or with Tab to whoever works next", () => {
    expect(pressing(night, "s", "use v2", "enter").requests).toEqual([
      { want: "act", act: { do: "steer", task: "auth-001", text: "use v2" } },
    ]);
    expect(pressing(night, "s", "tab", "use v2", "enter").requests).toEqual([
      { want: "act", act: { do: "steer", task: null, text: "use v2" } },
    ]);
  });

  test("a cancel is confirmed first", () => {
    expect(pressing(night, "c").requests).toEqual([]);
    expect(pressing(night, "c", "n")).toMatchObject({ model: { mode: { is: "look" } }, requests: [] });
    expect(pressing(night, "c", "y").requests).toEqual([
      { want: "act", act: { do: "cancel", task: "auth-001" } },
    ]);
  });

  test("a blocked task is unblocked with a reason", () => {
    const { requests } = pressing(night, "tab", "down", "u", "new key", "enter");
    expect(requests).toEqual([{ want: "act", act: { do: "unblock", task: "ui-022", reason: "new key" } }]);
  });

  test.each([
    ["r", "the run does not wait for anything"],
    ["u", "auth-001 is not blocked: it is doing"],
    ["z", "z is no key here; ? lists them"],
  ])("%s says why it cannot be used now", (key, text) => {
    expect(pressing(night, key).model.says).toEqual({ text, isRefusal: true });
  });

  test("without a run nothing can be stopped", () => {
    const idle = model(scene([runStarted(), tasksObserved(task("one"))], { isDriven: false }));
    for (const key of ["x", "c", "r"])
      expect(pressing(idle, key).model.says?.text).toMatch(/no run is under way$/);
  });

  test("a screen that is there to look refuses them all", () => {
    const { overview, state } = busyNight();
    const looking = model({ overview: { ...overview, mayAct: false }, state });
    for (const key of ["a", "s", "c", "x"])
      expect(pressing(looking, key).model.says?.text).toBe("this monitor is there to look only");
  });

  test("p pauses the run, and resumes one that is paused", () => {
    expect(pressing(night, "p").requests).toEqual([{ want: "act", act: { do: "pause" } }]);
    const paused = scene([runStarted(), tasksObserved(task("one")), { type: "run.paused", run: "run-1" }]);
    expect(pressing(model(paused), "p").requests).toEqual([{ want: "act", act: { do: "resume" } }]);
  });

  test("d shows one task, where the arrows go to the next and keys act on it", () => {
    const detail = pressing(night, "d").model;
    expect(detail.mode).toEqual({ is: "detail" });
    expect(selectedTask(pressing(detail, "down").model)).toBe("auth-002");
    expect(pressing(detail, "l").requests).toEqual([{ want: "open", task: "auth-001" }]);
    expect(pressing(detail, "escape").model.mode).toEqual({ is: "look" });
  });

  test("what came of them stands in the status line", () => {
    expect(hearing(night, { is: "acted", acted: { is: "done", said: "told" } }).model.says).toEqual({
      text: "told",
      isRefusal: false,
    });
    expect(hearing(night, { is: "acted", acted: { is: "refused", why: "too late" } }).model.says).toEqual({
      text: "too late",
      isRefusal: true,
    });
  });
});

describe("the cursor", () => {
  test("goes through the list of a small window, what matters first", () => {
    const ids = ["auth-001", "auth-002", "ui-004", "ui-022", "api-1"];
    expect(ids.map((_, times) => selectedTask(pressing(night, "j".repeat(times)).model))).toEqual(ids);
    expect(selectedTask(pressing(night, "G").model)).toBe("docs-001");
    expect(selectedTask(pressing(night, "G", "g", "up").model)).toBe("auth-001");
  });

  test("stays on its task when the board changes", () => {
    const selected = pressing(night, "jjjj").model;
    const { overview, state } = scene([runStarted(), tasksObserved(task("zero"), task("api-1"))]);
    const after = hearing(selected, { is: "seen", overview, state }).model;
    expect(selectedTask(after)).toBe("api-1");
  });

  test("goes from column to column in a wide one", () => {
    const wide = model(busyNight(), { columns: 200, rows: 50 });
    expect(selectedTask(pressing(wide, "right").model)).toBe("ui-004");
    expect(selectedTask(pressing(wide, "right", "right").model)).toBe("docs-001");
    expect(selectedTask(pressing(wide, "left", "down", "down").model)).toBe("api-3");
  });

  test("sees only what the filter lets through", () => {
    const filtered = pressing(night, "f", "BLOCKED", "enter").model;
    expect(selectedTask(filtered)).toBe("ui-022");
    expect(selectedTask(pressing(filtered, "escape").model)).toBe("auth-001");
    expect(selectedTask(pressing(night, "f", "nothing").model)).toBeNull();
  });

  test("scrolls the log when that is where it is", () => {
    const scrolled = pressing(night, "tab", "tab", "up", "up").model;
    expect(scrolled).toMatchObject({ panel: "log", logBack: 2 });
    expect(pressing(scrolled, "end").model.logBack).toBe(0);
    expect(pressing(scrolled, "back-tab").model.panel).toBe("inbox");
  });
});

describe("leaving", () => {
  const own = model(busyNight(), { columns: 80, rows: 24 }, { pid: 1, exitCode: null });

  test("is q, or Ctrl-C from anywhere", () => {
    expect(pressing(night, "q").requests).toEqual([{ want: "quit", exitCode: 0 }]);
    expect(pressing(night, "a", "ctrl-c").requests).toEqual([{ want: "quit", exitCode: 130 }]);
  });

  test("asks what becomes of the run that came with it", () => {
    expect(pressing(own, "q")).toMatchObject({ model: { mode: { is: "choose" } }, requests: [] });
    expect(pressing(own, "q", "l").requests).toEqual([{ want: "quit", exitCode: 0 }]);
    expect(pressing(own, "q", "s").requests).toEqual([{ want: "act", act: { do: "stop" } }]);
    expect(pressing(own, "q", "n").requests).toEqual([{ want: "stop-now" }]);
    expect(pressing(own, "q", "escape")).toMatchObject({ model: { mode: { is: "look" } }, requests: [] });
  });

  test("has the run's exit code once it is over; looking round does not leave", () => {
    const over = hearing(own, { is: "run-ended", exitCode: 3 }).model;
    expect(pressing(over, "j", "?", "q", "f", "escape").requests).toEqual([]);
    for (const key of ["q", "enter", "escape", "y", "ctrl-c"])
      expect(pressing(over, key).requests).toEqual([{ want: "quit", exitCode: 3 }]);
  });

  test("happens by itself when the run could not start", () => {
    const refused = model(busyNight(), { columns: 80, rows: 24 }, { pid: 99, exitCode: null });
    expect(hearing(refused, { is: "run-ended", exitCode: 64 }).requests).toEqual([
      { want: "quit", exitCode: 64 },
    ]);
  });
});

test("what fails outside is told, and nothing ends", () => {
  expect(hearing(night, { is: "failed", why: "the disk is full" })).toMatchObject({
    model: { says: { text: "the disk is full", isRefusal: true } },
    requests: [],
  });
});

test("what is pasted is one line without escapes", () => {
  const { model: after } = hearing(pressing(night, "s").model, { is: "pasted", text: "a\nb\x1b[31mc\tд" });
  expect(after.mode).toMatchObject({ field: { before: "a bc    д" } });
  expect(hearing(night, { is: "pasted", text: "qqq" }).requests).toEqual([]);
});
