import { expect, test } from "vitest";
import { createEchoFilter } from "./prompt-echo.ts";
import { createSignalReader } from "./read-signals.ts";

const PROMPT = `## Task Information
- **Title**: Log in

## Completion Requirements
When the task is genuinely and completely done, print this on a line of its own:

<promise>COMPLETE</promise>

Print it only when everything above is true: your work is verified.
`;

function claimOf(output: string, prompt = PROMPT, requireXml = true): string {
  const expected = { completion: "COMPLETE", requireXml };
  const reader = createSignalReader(expected);
  const filter = createEchoFilter(prompt, expected, reader);
  for (const line of output.split("\n")) filter.readLine(line);
  filter.end();
  return reader.report(null).claim.is;
}

test.each<[string, string, string]>([
  ["the whole prompt says nothing", PROMPT, "none"],
  ["the prompt after a first line says nothing", `user:\n${PROMPT}\nassistant:\nI will start.`, "none"],
  ["an indented prompt says nothing", PROMPT.replaceAll(/^/gm, "    "), "none"],
  ["a coloured prompt says nothing", PROMPT.replaceAll(/^(.+)$/gm, "\x1b[2m$1\x1b[0m"), "none"],
  ["a prompt without its blank lines says nothing", PROMPT.replaceAll("\n\n", "\n"), "none"],
  ["a prompt with broken lines says nothing", PROMPT.replaceAll(/(.{40}\S*) /g, "$1\n"), "none"],
  ["the prompt twice says nothing", PROMPT + PROMPT, "none"],
  ["a promise after the echo counts", `${PROMPT}\nDone.\n<promise>COMPLETE</promise>\n`, "complete"],
  ["a promise right after the echo counts", `${PROMPT}<promise>COMPLETE</promise>`, "complete"],
  ["a promise alone counts", "<promise>COMPLETE</promise>", "complete"],
  ["a promise before a farewell counts", "Done.\n<promise>COMPLETE</promise>\nBye.", "complete"],
  ["a promise in several lines counts", "Done.\n<promise>\nCOMPLETE\n</promise>", "complete"],
])("%s", (_, output, claim) => {
  expect(claimOf(output)).toBe(claim);
});

test("what an earlier iteration noted may be said again", () => {
  const prompt = PROMPT.replace(
    "## Completion",
    "## Notes\nAll tests pass.\n<promise>COMPLETE</promise>\n\n## Completion",
  );
  expect(claimOf("All tests pass.\n<promise>COMPLETE</promise>\n", prompt)).toBe("complete");
  expect(claimOf(prompt, prompt)).toBe("none");
});

test("a prompt that ends with the tag is recognised", () => {
  const prompt = "Do it.\nThen print:\n<promise>COMPLETE</promise>\n";
  expect(claimOf(prompt, prompt)).toBe("none");
  expect(claimOf(`${prompt}ok, working`, prompt)).toBe("none");
  expect(claimOf(`${prompt}Did it.\n<promise>COMPLETE</promise>`, prompt)).toBe("complete");
});

test("a prompt that begins with the tag is recognised", () => {
  const prompt = "<promise>COMPLETE</promise>\nis what you print when it is done.\n";
  expect(claimOf(prompt, prompt)).toBe("none");
  expect(claimOf("<promise>COMPLETE</promise>", prompt)).toBe("complete");
});

test("a tag over several lines is recognised, and the agent's own one counts", () => {
  const prompt = "When done print\n<promise>\nCOMPLETE\n</promise>\nand stop.\n";
  for (const requireXml of [true, false]) {
    expect(claimOf(prompt, prompt, requireXml)).toBe("none");
    expect(claimOf("Did it.\n<promise>\nCOMPLETE\n</promise>\n", prompt, requireXml)).toBe("complete");
  }
});

test("a fence of the prompt that never ends does not swallow the answer", () => {
  const prompt = `Look at this:\n\`\`\`\nunfinished code\n${PROMPT}`;
  expect(claimOf(`${prompt}\nDone.\n<promise>COMPLETE</promise>`, prompt)).toBe("complete");
});

test("bare words of the prompt do not count where no tag is needed", () => {
  const prompt = "When done print this:\nCOMPLETE\nand nothing else.\n";
  expect(claimOf(prompt, prompt, false)).toBe("none");
  expect(claimOf(`${prompt}\nok\ncomplete`, prompt, false)).toBe("complete");
});

const FILLED = [
  "---RALPH_STATUS---",
  "STATUS: COMPLETE",
  "WORK_TYPE: IMPLEMENTATION",
  "EXIT_SIGNAL: true",
  "RECOMMENDATION: nothing",
  "---END_RALPH_STATUS---",
].join("\n");
const WITH_BLOCK = `Do it.\nAt the end print this, as in:\n${FILLED}\nOr as a line:\nEXIT_SIGNAL: true\nThat is all.\n`;

test.each<[string, string, string]>([
  ["an example of a status block in the prompt says nothing", WITH_BLOCK, "none"],
  ["indented it says nothing", WITH_BLOCK.replaceAll(/^/gm, "  "), "none"],
  ["the same block as the agent's own words counts", `All good.\n${FILLED}\n`, "complete"],
  ["it counts after the echo", `${WITH_BLOCK}\nAll good.\n${FILLED}\n`, "complete"],
  ["a bare exit signal counts after the echo", `${WITH_BLOCK}\nAll good.\nEXIT_SIGNAL: true\n`, "complete"],
])("%s", (_, output, claim) => {
  expect(claimOf(output, WITH_BLOCK)).toBe(claim);
});
