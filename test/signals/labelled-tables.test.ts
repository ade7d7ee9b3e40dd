import { describe, expect, test } from "vitest";
import { analyzeText } from "./analyze-text.ts";

const citationsOf = (text: string): readonly string[] => analyzeText(text).signals.citations;
const table = (header: string, ...rows: readonly string[]): string =>
  [header, header.replaceAll(/[^|]+/g, "---"), ...rows].join("\n");

describe("files are cited", () => {
  test.each<[string, readonly string[]]>([
    [table("| File | Change |", "| src/a.ts | created |"), ["src/a.ts"]],
    [
      table("| File | Change |", "| src/a.ts | modified |", "| `src/b.ts` | Added |"),
      ["src/a.ts", "src/b.ts"],
    ],
    [table("| File | Change |", "| `src/a.ts` | the login form |"), ["src/a.ts"]],
    [table("| File | Status |", "| **src/a.ts** | ✅ Created |"), ["src/a.ts"]],
    [table("| Path | Action |", "| src/a.ts:10-20 | Updated the parser |"), ["src/a.ts"]],
    [table("| Action | File |", "| new | src/a.ts |"), ["src/a.ts"]],
    [table("| # | File path | State |", "| 1 | src/a.ts | New file |"), ["src/a.ts"]],
    [table("| Files changed | Why |", "| src/a.ts | login |"), ["src/a.ts"]],
    [table("| Modified file | Lines |", "| src/a.ts, src/b.ts | 20 |"), ["src/a.ts", "src/b.ts"]],
    [table("| File | Notes |", "| src/a.ts | **modified** |"), ["src/a.ts"]],
    [table("File | Change", "src/a.ts | created"), ["src/a.ts"]],
    [table("| **File** | *Change* |", "| [src/a.ts](src/a.ts) | created |"), ["src/a.ts"]],
    [table("| Old path | New path |", "| src/a.ts | src/b.ts |"), ["src/b.ts"]],
    [`| File | Change |\n|:---|:---:|\n| src/a.ts | created |`, ["src/a.ts"]],
    [
      table("| File | Change |", "| src/a.ts | created |", "| src/b.ts | deleted |", "| src/c.ts | read |"),
      ["src/a.ts"],
    ],
    [
      `Changed files:\n${table("| File | What |", "| src/a.ts | parser |", "| src/b.ts | unchanged |")}`,
      ["src/a.ts"],
    ],
    [`${table("| File | Change |", "| src/a.ts | created |")}\n\nCreated src/b.ts`, ["src/a.ts", "src/b.ts"]],
  ])("in %j", (text, citations) => {
    expect(citationsOf(text)).toEqual(citations);
  });
});

describe("no file is cited", () => {
  test.each([
    table("| File | Change |", "| src/a.ts | deleted |"),
    table("| File | Change |", "| src/a.ts | **Removed** |"),
    table("| File | Change |", "| src/a.ts | none |"),
    table("| File | Change |", "| src/a.ts | – |"),
    table("| File | Change |", "| src/a.ts | |"),
    table("| File | Change |", "| src/a.ts | no change |"),
    table("| File | Change |", "| src/a.ts | not modified |"),
    table("| File | Change |", "| src/a.ts | unchanged |"),
    table("| File | Change |", "| src/a.ts | read |"),
    table("| File | Change |", "| src/a.ts | renamed to src/b.ts |"),
    table("| File | Change |", "| src/a.ts | should be split |"),
    table("| File | Change needed |", "| src/a.ts | split |"),
    table("| File | Proposed change |", "| src/a.ts | split |"),
    table("| File | Purpose |", "| src/a.ts | parser |"),
    table("| File | % Stmts | Lines |", "| src/a.ts | 100 | 1-9 |"),
    table("| File | Created | Modified |", "| src/a.ts | 2024-01-01 | 2024-01-02 |"),
    table("| File | Status |", "| src/a.ts | Reviewed |"),
    table("| Files not changed | Why |", "| src/a.ts | fine |"),
    table("| Files to change | Why |", "| src/a.ts | login |"),
    table("| Deleted file | Why |", "| src/a.ts | dead |"),
    table("| Task | Change |", "| src/a.ts | created |"),
    table("| Profile | Change |", "| src/a.ts | created |"),
    "| File | Change |\n| src/a.ts | created |",
    `\`\`\`\n${table("| File | Change |", "| src/a.ts | created |")}\n\`\`\``,
    `> ${table("| File | Change |", "| src/a.ts | created |").replaceAll("\n", "\n> ")}`,
    `${table("| File | Change |")}\n\n| src/a.ts | created |`,
    `${table("| File | Change |")}\nNow others\n| src/a.ts | created |`,
  ])("in %j", (text) => {
    expect(citationsOf(text)).toEqual([]);
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
