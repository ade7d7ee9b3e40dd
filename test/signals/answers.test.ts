import { describe, expect, test } from "vitest";
import { createSignalReader } from "../../src/core/words/read-signals.ts";
import type { Answer } from "../../src/core/streams/agent-report.ts";
import { EXPECTED } from "./analyze-text.ts";

const PROMPT = `## Concerns

1. old-checks-fail: two checks fail
Answer each of them with a line of its own:
Concern 1: …
Concern 2: the words speak against it
Then print the promise.
`;

function answersIn(text: string): readonly Answer[] | undefined {
  const reader = createSignalReader(EXPECTED, PROMPT);
  for (const line of text.split("\n")) reader.readLine(line);
  return reader.report(null).signals.answers;
}

const concern = (number: number, text: string): Answer => ({ about: "concern", number, text });

describe("an answer is read", () => {
  test.each<[string, readonly Answer[]]>([
    ["Concern 1: the test was renamed.", [concern(1, "the test was renamed.")]],
    ["finding 2: fixed in src/a.ts", [{ about: "finding", number: 2, text: "fixed in src/a.ts" }]],
    ["- **Concern 1:** renamed", [concern(1, "renamed")]],
    ["* __Concern 1__: renamed", [concern(1, "renamed")]],
    ["1. CONCERN 12 : renamed", [concern(12, "renamed")]],
    ["### Concern #3: renamed", [concern(3, "renamed")]],
    ["Concern 1: it was\nrenamed\n\nAll is well.", [concern(1, "it was renamed")]],
    ["**Concern 1:**\nIt was renamed.\n<promise>COMPLETE</promise>", [concern(1, "It was renamed.")]],
    ["Concern 1: a\nConcern 2: b\n- and c", [concern(1, "a"), concern(2, "b")]],
    ["Concern 1: a\nConcern 2: b\nConcern 1: c", [concern(2, "b"), concern(1, "c")]],
  ])("in %j", (text, answers) => {
    expect(answersIn(text)).toEqual(answers);
  });

  test("up to a length, and up to fifty of them", () => {
    expect(answersIn(`Concern 1: ${"x".repeat(600)}`)).toEqual([concern(1, "x".repeat(500))]);
    const many = Array.from({ length: 60 }, (_, index) => `Concern ${index + 1}: a`).join("\n");
    expect(answersIn(many)).toHaveLength(50);
  });
});

test.each([
  "Concern 1:",
  "Concern 1: …",
  "Concern 1: <your answer>",
  "Concern 0: renamed",
  "My concern 1: renamed",
  "Concern: renamed",
  "> Concern 1: renamed",
  "```\nConcern 1: renamed\n```",
  PROMPT,
  "Concern 2: the words speak against it",
  "Answer each of them with a line of its own:\nConcern 1: …\nConcern 2: the words speak against it",
])("no answer is read in %j", (text) => {
  expect(answersIn(text)).toEqual([]);
});

test("a sentence that the prompt quotes and the agent says again counts", () => {
  const prompt = "## Feedback\n\nYou said:\nI still need to handle the error path.\nMend it.\n";
  const reader = createSignalReader(EXPECTED, prompt);
  reader.readLine("I still need to handle the error path.");
  reader.readLine("<promise>COMPLETE</promise>");
  expect(reader.report(null).signals.contradictions).toEqual(["I still need to handle the error path."]);
});
