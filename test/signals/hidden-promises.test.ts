import { describe, expect, test } from "vitest";
import type { Claim } from "../../src/core/streams/agent-report.ts";
import { analyzeText, block } from "./analyze-text.ts";

const PROMISE = "<promise>COMPLETE</promise>";
const lines = (count: number): string => "so\n".repeat(count);

/** What is claimed, and whether the agent must be told that its promise does not count where it stands. */
type Expected = readonly [claim: Claim["is"], isHidden: boolean];

describe("in an HTML comment", () => {
  test.each<[string, string, Expected]>([
    ["a promise is hidden", `<!-- ${PROMISE} -->`, ["none", true]],
    ["a promise without spaces is hidden", `<!--${PROMISE}-->`, ["none", true]],
    ["a promise on its own line is hidden", `<!--\n${PROMISE}\n-->`, ["none", true]],
    ["a promise on the first line is hidden", `<!-- ${PROMISE}\nso -->`, ["none", true]],
    ["a promise on the last line is hidden", `<!-- so\n${PROMISE} -->`, ["none", true]],
    ["a promise between blank lines is hidden", `<!--\n\n${PROMISE}\n\n-->`, ["none", true]],
    ["that begins behind words a promise is hidden", `So <!-- this\n${PROMISE}\n-->`, ["none", true]],
    ["that is indented a promise is hidden", `  <!--\n  ${PROMISE}\n  -->`, ["none", true]],
    ["a promise of several lines is none", "<!--\n<promise>\nCOMPLETE\n</promise>\n-->", ["none", false]],
    ["a blocker is none", "<!--\n<promise>BLOCKED:no key</promise>\n-->", ["none", false]],
    ["a status block is none", `<!--\n${block("STATUS: COMPLETE")}\n-->`, ["none", false]],
    ["an exit signal is none", "<!--\nEXIT_SIGNAL: true\n-->", ["none", false]],
    ["that begins where one ends a promise is hidden", `<!-- a\n--> <!--\n${PROMISE}\n-->`, ["none", true]],
    ["a beginning means nothing", `<!-- a <!-- b\n\n${PROMISE}\n-->`, ["none", true]],
    ["a fence does not begin", `<!--\n\`\`\`\n-->\n${PROMISE}`, ["complete", false]],
    ["of many lines a promise is hidden", `<!--\n${lines(150)}${PROMISE}\n-->`, ["none", true]],
    ["a promise is hidden whoever promises later", `<!-- ${PROMISE} -->\n${PROMISE}`, ["complete", true]],
  ])("%s", (_, text, expected) => {
    expect(readingOf(text)).toEqual(expected);
  });

  test("nothing is prose", () => {
    const { signals } = analyzeText(
      "<!--\nTODO: tidy up. It is done.\nCreated src/a.ts\n-->\n<!-- TODO: b -->",
    );
    expect(signals).toMatchObject({ confidence: 0, contradictions: [], citations: [] });
  });
});

describe("a promise counts", () => {
  test.each<[string, string]>([
    ["after a comment", `<!-- so -->\n${PROMISE}`],
    ["after a comment of several lines", `<!--\nso\n-->\n${PROMISE}`],
    ["after an empty comment", `<!-->\n${PROMISE}\n<!--->\n\n-->`],
    ["after two comments in a line", `<!-- a --> b <!-- c -->\n${PROMISE}`],
    ["after a comment that never ends", `<!-- so\n${PROMISE}`],
    ["after a comment that never ends, among other lines", `<!--\n${lines(50)}${PROMISE}\n${lines(50)}`],
    ["after a comment that ends too far away", `<!--\n${PROMISE}\n${lines(300)}-->`],
    ["after a comment that is too long", `<!--\n${PROMISE}\n${"x".repeat(100_000)}\n-->`],
    ["after code that looks like a comment", `Use \`<!--\` to begin\n${PROMISE}\nand \`-->\` to end.`],
    ["in the next paragraph", `It prints <!-- first.\n\n${PROMISE}\n\nThen a --> b.`],
    ["after a quoted beginning", `> <!--\n${PROMISE}\n> -->`],
    ["after a fenced beginning", `\`\`\`html\n<!--\n\`\`\`\n${PROMISE}\n-->`],
    ["after an arrow", `a --> b\n${PROMISE}`],
  ])("%s", (_, text) => {
    expect(readingOf(text)).toEqual(["complete", false]);
  });
});

test("a comment that never ends leaves fences and words as they are", () => {
  const { signals, claim } = analyzeText(`<!-- so\nTODO: a\n\`\`\`\n${PROMISE}`);
  expect([claim.is, signals.isPromiseHidden, signals.contradictions]).toEqual(["none", true, ["TODO: a"]]);
});

describe("a promise in decoration does not count, but is noticed", () => {
  test.each([
    `**${PROMISE}**`,
    `  **${PROMISE}**  `,
    `***${PROMISE}***`,
    `_${PROMISE}_`,
    `__${PROMISE}__`,
    `\`${PROMISE}\``,
    `**\`${PROMISE}\`**`,
    `- ${PROMISE}`,
    `* ${PROMISE}`,
    `+ **${PROMISE}**`,
    `1. ${PROMISE}`,
    `- [x] ${PROMISE}`,
    `# ${PROMISE}`,
    `### **${PROMISE}**`,
    `**<promise> COMPLETE </promise>**`,
    `> **${PROMISE}**`,
    `\`\`\`\n${PROMISE}\n\`\`\``,
  ])("%j", (text) => {
    expect(readingOf(text)).toEqual(["none", true]);
  });
});

describe("no hidden promise is", () => {
  test.each([
    `I print ${PROMISE}`,
    `- print ${PROMISE} at the end`,
    `**Print ${PROMISE}**`,
    "**<promise>OTHER</promise>**",
    "**<promise>complete</promise>**",
    "**COMPLETE**",
    `**${PROMISE}** or **${PROMISE}**`,
    `**${" ".repeat(10_000)}${PROMISE}**`,
  ])("%j", (text) => {
    expect(readingOf(text)).toEqual(["none", false]);
  });
});

function readingOf(text: string): Expected {
  const { claim, signals } = analyzeText(text);
  return [claim.is, signals.isPromiseHidden];
}
