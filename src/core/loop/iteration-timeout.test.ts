import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainTask, type Task } from "../plan.ts";
import { type Mode, MODE_TIMEOUT_MS } from "../settings.ts";
import {
  type Complexity,
  complexityOf,
  DEFAULT_COMPLEXITY,
  iterationTimeout,
  type TimeoutRequest,
  type TimeoutSettings,
} from "./iteration-timeout.ts";

const SETTINGS: TimeoutSettings = {
  enabled: true,
  complexityScaling: true,
  failureScaling: true,
  maxMs: 3_600_000,
  minMs: 60_000,
  perTimeout: 1.5,
  learn: true,
  levels: DEFAULT_COMPLEXITY,
};

type Asked = Partial<Omit<TimeoutRequest, "task" | "settings">> & {
  readonly title?: string;
  readonly taskMs?: number;
  readonly settings?: Partial<TimeoutSettings>;
};

function timeoutOf({ title = "", taskMs, settings, ...asked }: Asked): ReturnType<typeof iterationTimeout> {
  const task: Task = plainTask({ id: "one", title, timeoutMs: taskMs ?? null });
  return iterationTimeout({
    modeMs: 120_000,
    overrideMs: null,
    unblockedMs: null,
    timeoutsSoFar: 0,
    learnedMs: [],
    ...asked,
    task,
    settings: { ...SETTINGS, ...settings },
  });
}

const seconds = (asked: Asked): number => timeoutOf(asked).timeoutMs / 1_000;

describe("the formula", () => {
  test.each<[Mode, string, number, number]>([
    ["speed", "Fix it", 0, 120],
    ["speed", "Mock it", 0, 180],
    ["speed", "No keyword", 0, 180],
    ["speed", "Parser", 0, 240],
    ["speed", "Dashboard", 0, 360],
    ["speed", "Dashboard", 1, 540],
    ["speed", "Dashboard", 2, 810],
    ["speed", "Fix it", 1, 180],
    ["speed", "Fix it", 3, 405],
    ["standard", "Fix it", 0, 900],
    ["standard", "Mock it", 0, 1_350],
    ["standard", "Parser", 0, 1_800],
    ["standard", "Parser", 1, 2_700],
    ["standard", "Dashboard", 0, 2_700],
    ["standard", "Dashboard", 1, 3_600],
    ["thorough", "Fix it", 0, 1_800],
    ["thorough", "Parser", 0, 3_600],
    ["thorough", "Dashboard", 0, 3_600],
  ])("%s, %j, %i timeouts: %i s", (mode, title, timeoutsSoFar, expected) => {
    const timeout = timeoutOf({ modeMs: MODE_TIMEOUT_MS[mode], title, timeoutsSoFar });
    expect(timeout).toMatchObject({ timeoutMs: expected * 1_000, from: "formula" });
  });

  test("stays within its bounds, however many timeouts there were", () => {
    expect(seconds({ modeMs: 1_000, title: "Fix it" })).toBe(60);
    expect(seconds({ title: "Dashboard", timeoutsSoFar: 100_000 })).toBe(3_600);
    expect(seconds({ settings: { minMs: 300_000 } })).toBe(300);
    expect(seconds({ settings: { maxMs: 90_000 } })).toBe(90);
  });

  test("has parts that can be switched off", () => {
    const asked = { title: "Dashboard", timeoutsSoFar: 2 };
    expect(seconds({ ...asked, settings: { complexityScaling: false } })).toBe(270);
    expect(seconds({ ...asked, settings: { failureScaling: false } })).toBe(360);
    expect(seconds({ ...asked, settings: { complexityScaling: false, failureScaling: false } })).toBe(120);
  });

  test("takes its multipliers from the settings, and is a whole number of milliseconds", () => {
    const ui_heavy = { multiplier: 2.5, keywords: ["screen"] };
    const settings = { perTimeout: 1.1, levels: { ...DEFAULT_COMPLEXITY, ui_heavy } };
    expect(timeoutOf({ title: "A screen", timeoutsSoFar: 3, settings })).toEqual({
      timeoutMs: 399_300,
      from: "formula",
      complexity: "ui_heavy",
    });
    expect(timeoutOf({ modeMs: 100_001, title: "Mock it" }).timeoutMs).toBe(150_002);
  });

  test("switched off, is the mode's timeout as it is", () => {
    const settings = { enabled: false, maxMs: 90_000 };
    expect(timeoutOf({ title: "Dashboard", timeoutsSoFar: 2, learnedMs: [1, 1, 1, 1, 1], settings })).toEqual(
      {
        timeoutMs: 120_000,
        from: "formula",
        complexity: "ui_heavy",
      },
    );
  });
});

describe("what a person asked for", () => {
  const learnedMs = [90_000, 90_000, 90_000, 90_000, 90_000];

  test.each([
    ["a task's own", { taskMs: 5_000 }, 5_000, "task"],
    ["a run's", { overrideMs: 7_200_000 }, 7_200_000, "override"],
    ["that of unblocking", { unblockedMs: 1_234 }, 1_234, "override"],
    ["a run's, over the task's", { taskMs: 5_000, overrideMs: 6_000 }, 6_000, "override"],
    ["that of unblocking, over a run's", { overrideMs: 6_000, unblockedMs: 7_000 }, 7_000, "override"],
    ["the last, over all", { taskMs: 5_000, overrideMs: 6_000, unblockedMs: 7_000 }, 7_000, "override"],
  ])("is exact: %s", (_what, asked, timeoutMs, from) => {
    for (const enabled of [true, false]) {
      expect(
        timeoutOf({ title: "Dashboard", timeoutsSoFar: 3, learnedMs, settings: { enabled }, ...asked }),
      ).toEqual({ timeoutMs, from, complexity: "ui_heavy" });
    }
  });
});

describe("what was learned", () => {
  const five = [100_000, 300_000, 200_000, 100_000, 100_000];

  test("counts from five accepted iterations on", () => {
    expect(timeoutOf({ learnedMs: five.slice(0, 4) })).toMatchObject({ timeoutMs: 180_000, from: "formula" });
    expect(timeoutOf({ learnedMs: five })).toMatchObject({ timeoutMs: 600_000, from: "learned" });
  });

  test("never shortens a limit", () => {
    const formula = { timeoutMs: 900_000, from: "formula" };
    expect(timeoutOf({ learnedMs: five, title: "Dashboard", modeMs: 300_000 })).toMatchObject(formula);
    expect(timeoutOf({ learnedMs: five.map(() => 0) })).toMatchObject({
      timeoutMs: 180_000,
      from: "formula",
    });
  });

  test("takes the place of mode and multiplier, not of what timeouts add", () => {
    expect(seconds({ learnedMs: five, timeoutsSoFar: 2 })).toBe(1_350);
    expect(seconds({ learnedMs: five, timeoutsSoFar: 2, settings: { failureScaling: false } })).toBe(600);
  });

  test("is the 95th percentile by nearest rank: one in twenty may be slower", () => {
    const twenty = Array.from({ length: 20 }, (_, index) => (index + 1) * 50_000);
    expect(seconds({ learnedMs: twenty })).toBe(1_900);
    expect(seconds({ learnedMs: twenty.toReversed() })).toBe(1_900);
    expect(seconds({ learnedMs: twenty.slice(0, 19) })).toBe(1_900);
    expect(seconds({ learnedMs: [...twenty, 9_000_000] })).toBe(2_000);
  });

  test("stays within the bounds", () => {
    expect(seconds({ learnedMs: five.map(() => 3_000_000) })).toBe(3_600);
    expect(seconds({ learnedMs: five, timeoutsSoFar: 100_000 })).toBe(3_600);
  });

  test("can be switched off", () => {
    expect(timeoutOf({ learnedMs: five, settings: { learn: false } })).toMatchObject({
      timeoutMs: 180_000,
      from: "formula",
    });
  });
});

const durationMs = fc.integer({ min: 1, max: 100_000_000 });
const multiplier = fc.double({ min: 0.1, max: 1_000, noNaN: true });
const anyRequest = fc.record({
  title: fc.constantFrom("", "Fix it", "Mock it", "Parser", "Dashboard"),
  modeMs: durationMs,
  timeoutsSoFar: fc.nat({ max: 2_000 }),
  learnedMs: fc.array(fc.nat({ max: 100_000_000 }), { maxLength: 30 }),
  settings: fc
    .record({
      bounds: fc.tuple(durationMs, durationMs),
      complexityScaling: fc.boolean(),
      failureScaling: fc.boolean(),
      learn: fc.boolean(),
      perTimeout: fc.double({ min: 1, max: 1_000, noNaN: true }),
      uiMultiplier: multiplier,
    })
    .map(({ bounds, uiMultiplier, ...rest }) => ({
      ...rest,
      minMs: Math.min(...bounds),
      maxMs: Math.max(...bounds),
      levels: { ...DEFAULT_COMPLEXITY, ui_heavy: { multiplier: uiMultiplier, keywords: ["dashboard"] } },
    })),
});

test("a timeout nobody asked for is a whole number within the bounds, and one more timeout never lowers it", () => {
  fc.assert(
    fc.property(anyRequest, (asked) => {
      const { timeoutMs } = timeoutOf(asked);
      expect(Number.isSafeInteger(timeoutMs)).toBe(true);
      expect(timeoutMs).toBeGreaterThanOrEqual(asked.settings.minMs);
      expect(timeoutMs).toBeLessThanOrEqual(asked.settings.maxMs);
      const next = timeoutOf({ ...asked, timeoutsSoFar: asked.timeoutsSoFar + 1 });
      expect(next.timeoutMs).toBeGreaterThanOrEqual(timeoutMs);
    }),
    { seed: 20_261_115 },
  );
});

interface Words {
  readonly title?: string;
  readonly description?: string;
  readonly criteria?: readonly string[];
}

function levelOf(words: Words, levels = DEFAULT_COMPLEXITY): Complexity {
  return complexityOf({ title: "", description: "", criteria: [], ...words }, levels);
}

function withKeywords(level: Complexity, ...keywords: readonly string[]): typeof DEFAULT_COMPLEXITY {
  return { ...DEFAULT_COMPLEXITY, [level]: { ...DEFAULT_COMPLEXITY[level], keywords } };
}

describe("the keywords of the request", () => {
  test.each<[string, Complexity]>([
    ...["UI", "View", "Chart", "Dashboard", "SwiftUI"].map(
      (word) => [word, "ui_heavy"] as [string, Complexity],
    ),
    ...["CLI", "command", "parser"].map((word) => [word, "complex"] as [string, Complexity]),
    ...["test", "mock", "fixture"].map((word) => [word, "medium"] as [string, Complexity]),
    ...["fix", "update", "refactor", "add"].map((word) => [word, "simple"] as [string, Complexity]),
  ])("%s is %s, in any case", (word, level) => {
    for (const written of [word, word.toUpperCase(), word.toLowerCase()])
      expect(levelOf({ title: `The ${written} of it` })).toBe(level);
  });

  test("multiply by 3, 2, 1.5 and 1", () => {
    expect(Object.entries(DEFAULT_COMPLEXITY).map(([name, { multiplier }]) => [name, multiplier])).toEqual([
      ["simple", 1],
      ["medium", 1.5],
      ["complex", 2],
      ["ui_heavy", 3],
    ]);
  });
});

test("every part of a task counts", () => {
  expect(levelOf({ title: "Draw the chart" })).toBe("ui_heavy");
  expect(levelOf({ description: "with a chart" })).toBe("ui_heavy");
  expect(levelOf({ criteria: ["a chart is there"] })).toBe("ui_heavy");
});

test("without a keyword a task is medium", () => {
  expect(levelOf({ title: "Write the documentation" })).toBe("medium");
  expect(levelOf({})).toBe("medium");
});

describe("the highest match wins", () => {
  test("wherever it stands", () => {
    expect(levelOf({ title: "Fix the parser", criteria: ["the dashboard shows it"] })).toBe("ui_heavy");
    expect(levelOf({ title: "Add a test", description: "of the CLI" })).toBe("complex");
    expect(levelOf({ title: "Fix a mock" })).toBe("medium");
  });

  test("by the level, whatever its multiplier", () => {
    const levels = {
      ...DEFAULT_COMPLEXITY,
      simple: { multiplier: 9, keywords: ["fix"] },
      ui_heavy: { multiplier: 0.5, keywords: ["view"] },
    };
    expect(levelOf({ title: "Fix the view" }, levels)).toBe("ui_heavy");
  });
});

describe("acceptance criteria", () => {
  const criteria = ["one", "two", "three", "four"];

  test("more than three make it one level higher", () => {
    expect(levelOf({ title: "Fix it", criteria: criteria.slice(0, 3) })).toBe("simple");
    expect(levelOf({ title: "Fix it", criteria })).toBe("medium");
    expect(levelOf({ title: "Write a test", criteria })).toBe("complex");
    expect(levelOf({ title: "Write a parser", criteria })).toBe("ui_heavy");
    expect(levelOf({ title: "No keyword", criteria })).toBe("complex");
  });

  test("never higher than the highest, and never by more than one", () => {
    expect(levelOf({ title: "Draw a chart", criteria })).toBe("ui_heavy");
    expect(levelOf({ title: "Fix it", criteria: [...criteria, ...criteria] })).toBe("medium");
  });
});

describe("whole words", () => {
  test.each([
    ["a plural", "All CLIs"],
    ["a part of a word", "clicks"],
    ["a part of a name", "CLIParser2"],
    ["a part of a name with underscores", "my_cli_name"],
    ["a digit after it", "CLI2"],
    ["a letter of another alphabet after it", "CLIé and CLIж"],
    ["a letter before it", "éCLI"],
    ["an accent on its last letter", "cli\u0301"],
  ])("%s is none: %s", (_what, title) => {
    expect(levelOf({ title }, withKeywords("complex", "cli"))).toBe("medium");
  });

  test.each([
    "CLI",
    "CLI.",
    "(cli)",
    "the CLI's help",
    "CLI-based",
    "`cli`",
    "web/cli",
    "first\ncli\nlast",
    "“CLI”",
  ])("%j has one", (title) => {
    expect(levelOf({ title })).toBe("complex");
  });

  test("a hyphen parts words: re-add has add in it", () => {
    expect(levelOf({ title: "Re-add the entry" })).toBe("simple");
    expect(levelOf({ title: "Readd the entry" })).toBe("medium");
  });
});

describe("keywords", () => {
  test.each([
    ["C++", "Port it to C++, then stop", "Port it to CCC"],
    ["a.b", "call a.b here", "call axb here"],
    ["[x]", "tick [x] there", "tick x there"],
    ["(a|b)", "the group (a|b) there", "the group a there"],
    ["$&", "the text $& there", "the text there"],
    ["\\d", "the pattern \\d there", "the digit 5 there"],
    ["größe", "Die GRÖSSE: GRÖßE", "Die Grösse"],
    ["gro\u0308ße", "Die gr\u00F6ße", "Die große"],
  ])("%j is taken literally", (keyword, has, hasNot) => {
    const levels = withKeywords("complex", keyword);
    expect(levelOf({ title: has }, levels)).toBe("complex");
    expect(levelOf({ title: hasNot }, levels)).toBe("medium");
  });

  test("may be several words, any white space apart, in one part of the task", () => {
    const levels = withKeywords("complex", " state  machine ");
    expect(levelOf({ description: "a State\n  Machine of it" }, levels)).toBe("complex");
    expect(levelOf({ description: "a state of the machine" }, levels)).toBe("medium");
    expect(levelOf({ description: "some state machines" }, levels)).toBe("medium");
    expect(levelOf({ title: "The state", description: "machine" }, levels)).toBe("medium");
  });

  test("that are blank, or none, match nothing", () => {
    expect(levelOf({ title: "a  b" }, withKeywords("ui_heavy", "", "  "))).toBe("medium");
    expect(levelOf({ title: "the chart" }, withKeywords("ui_heavy"))).toBe("medium");
  });
});
