import { describe, expect, test } from "vitest";
import type { Failure } from "../../src/core/streams/agent-report.ts";
import { errorSignature } from "../../src/core/words/read-signals.ts";
import { analyzeText, block } from "./analyze-text.ts";

const PROMISE = "<promise>COMPLETE</promise>";
const contradictionsOf = (text: string): readonly string[] => analyzeText(text).signals.contradictions;
const citationsOf = (text: string): readonly string[] => analyzeText(text).signals.citations;

describe("a contradiction is", () => {
  test.each([
    "TODO: write the tests.",
    "I left a FIXME: in the parser.",
    "- TODO(anna): rename it",
    "Todo: the docs",
    "The export is not yet implemented.",
    "The export has not been implemented yet.",
    "I still need to add tests.",
    "It still needs to be wired up.",
    "The remaining work is the export.",
    "Some work remains.",
    "This is blocked by the missing key.",
    "I cannot complete the migration.",
    "I was unable to complete it.",
    "The tests fail.",
    "2 tests failed.",
    "The unit tests are still failing.",
    "1 test fails on CI.",
    "There are 3 failing tests.",
    "Tests: 1 failed, 5 passed, 6 total",
    "== 2 failed, 10 passed in 0.3s ==",
    "I could not fix the failing tests.",
    "I did not touch the docs, but the tests fail.",
    "There are no lint errors and the tests fail.",
  ])("%s", (text) => {
    expect(contradictionsOf(`Summary.\n\n${text}\n${PROMISE}`)).toEqual([text]);
  });

  test("found where a sentence is broken into lines", () => {
    expect(contradictionsOf("Most of it works now, but the export is not\nyet implemented.")).toEqual([
      "Most of it works now, but the export is not yet implemented.",
    ]);
  });

  test("a block that says otherwise than the promise", () => {
    expect(contradictionsOf(`${PROMISE}\n${block("EXIT_SIGNAL: false")}`)).toEqual([
      "the promise is printed, but the status block says EXIT_SIGNAL: false",
    ]);
    expect(contradictionsOf(`${PROMISE}\n${block("STATUS: BLOCKED", "EXIT_SIGNAL: true")}`)).toEqual([
      "the promise is printed, but the status block says STATUS: BLOCKED",
    ]);
    expect(contradictionsOf(`${PROMISE}\n${block("STATUS: COMPLETE")}`)).toEqual([]);
    expect(contradictionsOf(`${block("EXIT_SIGNAL: false")}\nEXIT_SIGNAL: true`)).toEqual([
      "a line says EXIT_SIGNAL: true, but the status block says EXIT_SIGNAL: false",
    ]);
  });

  test("a claim with failing tests in the block, or something left in its recommendation", () => {
    expect(contradictionsOf(block("TESTS_STATUS: FAILING", "EXIT_SIGNAL: true"))).toEqual([
      "the status block says TESTS_STATUS: FAILING",
    ]);
    expect(contradictionsOf(block("EXIT_SIGNAL: true", "RECOMMENDATION: still need to write docs"))).toEqual([
      "RECOMMENDATION: still need to write docs",
    ]);
  });

  test("told only once and not for ever", () => {
    expect(contradictionsOf("TODO: a\n\nTODO: a")).toEqual(["TODO: a"]);
    const many = Array.from({ length: 100 }, (_, index) => `TODO: number ${index}`).join("\n");
    expect(contradictionsOf(many)).toHaveLength(20);
    expect(contradictionsOf(`${"x".repeat(5_000)} tests fail ${"y".repeat(5_000)}`)[0]).toHaveLength(300);
  });
});

describe("no contradiction is", () => {
  test.each([
    "0 tests failed.",
    "0 of 12 tests failed.",
    "No tests fail.",
    "None of the tests fail.",
    "The tests no longer fail.",
    "The tests do not fail.",
    "The tests don't fail.",
    "Tests failed: 0",
    "Tests: 12 passed, 0 failed",
    "There are no failing tests.",
    "I fixed the failing tests.",
    "The tests that failed now pass.",
    "The test failed before the fix.",
    "If the tests fail, the build stops.",
    "Nothing failed.",
    "No remaining work.",
    "There is no\nremaining work.",
    "Remaining work: none",
    "I completed the remaining work.",
    "All remaining work is done.",
    "No work remains.",
    "There are no TODO: or FIXME: comments.",
    "I removed the TODO: in the parser.",
    "TODO: none",
    "We no longer still need to restart.",
    "It is not blocked by anything.",
    "I unblocked it.",
    "The todo app shows a todo: its title.",
    "```ts\n// TODO: later\n```",
    "> The tests fail.",
    "<promise>BLOCKED:the tests fail</promise>",
    "Everything is implemented.",
    "The tests failed before I started.",
    "I was blocked by a missing key at first, but resolved it.",
    'It handles "not yet implemented" nodes.',
  ])("%s", (text) => {
    expect(contradictionsOf(text)).toEqual([]);
  });
});

describe("files are cited", () => {
  test.each<[string, readonly string[]]>([
    ["Created `src/a.ts`.", ["src/a.ts"]],
    ["Created src/a.ts.", ["src/a.ts"]],
    ["Modified a/b.py:10-20", ["a/b.py"]],
    ["Wrote x.txt", ["x.txt"]],
    ["Updated README.md and src/a.ts:3", ["README.md", "src/a.ts"]],
    ["I've created `src/a.ts`, `src/b.ts` and `src/c.ts`.", ["src/a.ts", "src/b.ts", "src/c.ts"]],
    ["Created src/a.ts, src/b.ts, and src/c.ts", ["src/a.ts", "src/b.ts", "src/c.ts"]],
    ["Created `src/a.ts` (the parser) and `src/b.ts` (its tests).", ["src/a.ts", "src/b.ts"]],
    ["Created `src/a.ts`,\n`src/b.ts`.", ["src/a.ts", "src/b.ts"]],
    ["- **Created** `src/a.ts` – the parser", ["src/a.ts"]],
    ["✅ Created: src/a.ts", ["src/a.ts"]],
    ["Created a new file src/a.ts and updated src/b.ts", ["src/a.ts", "src/b.ts"]],
    ["Created [src/a.ts](src/a.ts)", ["src/a.ts"]],
    ["Created `docs/my notes.md`", ["docs/my notes.md"]],
    ['Wrote "docs/my notes.md"', ["docs/my notes.md"]],
    ["Updated `src/größe/日本.ts`", ["src/größe/日本.ts"]],
    ["Wrote /tmp/project/src/a.ts", ["/tmp/project/src/a.ts"]],
    ["Updated ./src/a.ts", ["src/a.ts"]],
    ["Updated src/a.ts#L10-L20", ["src/a.ts"]],
    ["Updated `app/[id]/page.tsx`", ["app/[id]/page.tsx"]],
    ["Updated the Makefile", ["Makefile"]],
    ["Created a new file at src/a.ts", ["src/a.ts"]],
    ["1. **Updated `src/a.ts:15-30`** to import `src/b.ts` (see `docs/x.md`)", ["src/a.ts"]],
    ["Changes made:\n- **src/a.ts** (modified): login\n- **src/b.ts** (new)", ["src/a.ts", "src/b.ts"]],
    ["Added the parser in src/a.ts.", ["src/a.ts"]],
    ["Fixed a bug in `src/a.ts`.", ["src/a.ts"]],
    ["Wrote the report to docs/report.md", ["docs/report.md"]],
    ["Renamed src/a.ts to src/b.ts", ["src/b.ts"]],
    ["`src/a.ts` was created.", ["src/a.ts"]],
    ["src/a.ts and src/b.ts have been updated.", ["src/a.ts", "src/b.ts"]],
    ["src/a.ts (new)", ["src/a.ts"]],
    ["modified:   src/a.ts", ["src/a.ts"]],
    ["Files changed:\n- src/a.ts\n- src/b.ts: the parser", ["src/a.ts", "src/b.ts"]],
    ["## Files modified\n\n* `src/a.ts`\n* **src/b.ts**", ["src/a.ts", "src/b.ts"]],
    ["**Files Created/Modified:**\n1. `src/a.ts` (lines 1-20)\n2. src/b.ts", ["src/a.ts", "src/b.ts"]],
    ["Files changed: src/a.ts, src/b.ts", ["src/a.ts", "src/b.ts"]],
    ["I created the following files:\n\n- src/a.ts", ["src/a.ts"]],
    ["Files changed:\n```\nsrc/a.ts\nM src/b.ts\n```", ["src/a.ts", "src/b.ts"]],
    ["Changed files:\n| File | What |\n| --- | --- |\n| `src/a.ts` | parser |", ["src/a.ts"]],
    ["Files changed:\n- src/a.ts\n- src/old.ts (deleted)\n- D src/b.ts", ["src/a.ts"]],
    ["Files changed:\n- src/a.ts\nThen I looked.\n- src/b.ts", ["src/a.ts"]],
    ["## Changes\n- `src/a.ts`: login", ["src/a.ts"]],
    ["Created src/a.ts\nCreated src/a.ts:10", ["src/a.ts"]],
    ["I created report.md with the results.", ["report.md"]],
    ["Created index.html and style.css.", ["index.html", "style.css"]],
    ["Created `App.js`.", ["App.js"]],
    ["I wrote the task into DEMO.md.", ["DEMO.md"]],
    ["Added a `Dockerfile`.", ["Dockerfile"]],
    ["To fix it I have now updated `src/a.ts`.", ["src/a.ts"]],
    ["Added charts with D3.js in src/chart.ts.", ["src/chart.ts"]],
  ])("in %j", (text, citations) => {
    expect(citationsOf(text)).toEqual(citations);
  });

  test("up to two hundred", () => {
    const text = Array.from({ length: 300 }, (_, index) => `Created src/${index}.ts`).join("\n");
    expect(citationsOf(text)).toHaveLength(200);
  });
});

describe("no file is cited", () => {
  test.each([
    "See docs/x.md.",
    "The code is in src/a.ts.",
    "Read src/a.ts and src/b.ts.",
    "Updated the link https://example.com/a.html",
    "Added `@upstash/ratelimit` and `lodash/fp`.",
    "Updated Node.js and lodash.merge.",
    "Created the branch feature/login",
    "Created `/api/users`",
    "Updated `user.name`",
    "Created `src/*.ts`",
    "Created the folder src/auth/",
    "I did not modify src/a.ts. Not modified: src/b.ts",
    "I have not changed src/a.ts.",
    "src/a.ts was not created.",
    "I will have it updated. src/a.ts will be updated.",
    "Implemented it as described in docs/x.md.",
    "Updated the parser, see docs/x.md",
    "Deleted src/old.ts",
    "Files to be changed:\n- src/a.ts",
    "Files read:\n- src/a.ts",
    "Unchanged files:\n- src/a.ts",
    "3 files changed, 10 insertions(+)",
    "> Created src/a.ts",
    "```\nCreated src/a.ts\n```",
    "Added and/or logic.",
    "Updated to version 1.2.3",
    "Added Leaflet.js",
    "Added Chart.js and three.js to the page.",
    "Updated Vue.js to 3.4.",
    "Added tsconfig.json support",
    "Added `tsconfig.json` and `.eslintrc` support.",
    "Added support for tsconfig.json.",
    "Created `.env` files where they were missing.",
    "Added loading of `.env` files.",
    "Fixed the handling in calc.js.",
    "Reverted the commit that changed `src/base.js`.",
    "Commit abc1234 changed src/base.js.",
    "The previous iteration created src/old.ts.",
    "If I had changed src/a.ts, it would break.",
    "@@ -1 +1 @@\n+Created src/a.ts",
  ])("in %j", (text) => {
    expect(citationsOf(text)).toEqual([]);
  });
});

describe("the error's signature", () => {
  test.each<[string, string]>([
    ["Error: cannot open /tmp/a1/x.ts", "Error: cannot open /home/b/y.ts"],
    ["src/a.ts:10:5 - error TS2345: bad type", "lib/c.ts:99:1 - error TS2345: bad type"],
    ["Error: timeout after 5000ms", "Error: timeout after 12 s"],
    ["Error: at 12:30:11 lost", "Error: at 2025-01-02T10:00:00Z lost"],
    ["Error: object 0xdeadbeef is gone", "Error: object 0x12 is gone"],
    ["Error: commit a1b2c3d4e5 missing", "Error: commit 1234567 missing"],
    [
      "Error: id 123e4567-e89b-12d3-a456-426614174000 unknown",
      "Error: id 00000000-e89b-12d3-a456-426614174999 unknown",
    ],
    ["TypeError: x is 3", "warning\nTypeError: x is 4\nbye"],
  ])("of %j and %j is the same", (one, other) => {
    expect(analyzeText(one).signals.errorSignature).toBe(analyzeText(other).signals.errorSignature);
    expect(analyzeText(one).signals.errorSignature).not.toMatch(/\d|\/|null/);
  });

  test.each(["", "All good.", "0 errors: fine", "errors: 0", "I added error handling.", "Fixed errors: two"])(
    "of %j is null",
    (text) => {
      expect(analyzeText(text).signals.errorSignature).toBeNull();
    },
  );

  test("differs for different errors", () => {
    expect(analyzeText("Error: no key").signals.errorSignature).not.toBe(
      analyzeText("Error: no disk").signals.errorSignature,
    );
  });

  test("is the failure's where there is one", () => {
    const failure: Failure = { class: "agent", message: "exit code 3: Error: no such model" };
    expect(errorSignature(failure, ["TypeError: x"])).toBe("exit code …: Error: no such model");
  });
});

describe("a name that makes an adjective is not cited", () => {
  test.each<[string, readonly string[]]>([
    [
      "Updated `app.py`-style handling in src/calc.js, wrote `index.html`-compatible output.",
      ["src/calc.js"],
    ],
    ["Added `.env`-based configuration.", []],
    ["Added `.env`-based configuration in src/config.ts.", ["src/config.ts"]],
    ["Implemented a `package.json`-driven build.", []],
    ["Implemented `package.json`-driven builds in `scripts/build.ts`.", ["scripts/build.ts"]],
    ["Created `tsconfig.json`‑like settings.", []],
    ['Wrote "index.html"-compatible output.', []],
    ["Updated app.py-style handling.", []],
    ["Updated [app.py](app.py)-style handling.", []],
    ["Files changed:\n- `package.json`-driven build\n- src/a.ts", ["src/a.ts"]],
    ["`app.py`-style was added. `index.html`-like files were created.", []],
    ["Updated `app.py` - the handling.", ["app.py"]],
    ["Updated `app.py`, `b.py`-style handling too.", ["app.py"]],
    ["Updated `app.py`– the handling.", ["app.py"]],
    ["Updated `app.py`'s handling.", ["app.py"]],
    ["Updated `user.name` in src/a.ts.", ["src/a.ts"]],
    ["Updated to 1.2.3. The rest is in src/a.ts.", []],
  ])("in %j", (text, citations) => {
    expect(citationsOf(text)).toEqual(citations);
  });
});
