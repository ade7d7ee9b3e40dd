import { describe, expect, test } from "vitest";
import { complexityOf, DEFAULT_COMPLEXITY, type Complexity } from "./complexity.ts";

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
