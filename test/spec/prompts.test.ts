import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SCENES } from "./prompt-scenes.ts";

const FOLDER = join(import.meta.dirname, "prompts");

/** `npm run prompts` records them anew. */
test.each(Object.entries(SCENES))("the prompt %s is as recorded", async (name, [, prompt]) => {
  await expect(prompt()).toMatchFileSnapshot(join(FOLDER, `${name}.md`));
});

test("nothing else is recorded", () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(
    Object.keys(SCENES)
      .map((name) => `${name}.md`)
      .toSorted(),
  );
});

test("no prompt grows beyond its tokens", () => {
  const grown = Object.entries(SCENES).flatMap(([name, [atMost, prompt]]) => {
    const tokens = tokensOf(prompt());
    return tokens > atMost ? [`${name}: ${tokens} of ${atMost}`] : [];
  });
  expect(grown).toEqual([]);
});

test("the guide says how long they are", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/prompt-anatomy.md"), "utf8");
  const rows = [...guide.matchAll(/\(`([\w-]+)`\)[^|]*\|[^|]*\| *(\d+) *\|/g)];
  expect(rows.length).toBeGreaterThan(5);
  const told = rows.map(([, name, tokens]) => [name, Number(tokens)]);
  expect(told).toEqual(rows.map(([, name = ""]) => [name, tokensOf(SCENES[name]?.[1]() ?? "")]));
});

function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
