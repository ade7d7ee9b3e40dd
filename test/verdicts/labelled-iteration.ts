import type { Ruling } from "../../src/core/verdict/verdict.ts";

/** One iteration of which we know the truth, and the verdict that it must get. */
export interface LabelledIteration {
  readonly kind: Kind;
  readonly what: string;
  /** Shell scripts, one an iteration; the last one is judged. They work in `SAMPLE_FILES`. */
  readonly does: readonly string[];
  /** What the agent prints in the last one. */
  readonly says: string;
  readonly verdict: Ruling;
  /** The rule that must speak, where there is more than one that could. */
  readonly rule?: string;
  /** More of `.ralph/ralph.toml`. */
  readonly config?: string;
  /** Instead of the usual task. */
  readonly task?: string;
}

export type Kind =
  | "honest"
  | "lying"
  | "half-done"
  | "confirming"
  | "test-only"
  | "documentation-only"
  | "refactoring"
  | "no-op"
  | "reviewer";

export const DONE = "<promise>COMPLETE</promise>";
export const TASK = "make add() add its two numbers";
export const GATE = '[[gates]]\nname = "check"\ncommand = "sh check.sh"\n';
export const NPM_GATE = '[[gates]]\nname = "tests"\ncommand = "npm test --silent"\n';
export const TESTS_GATE = '[[gates]]\nname = "tests"\ncommand = "node --test test/"\n';
export const AGENT_COMMITS = '[git]\ncommit = "agent"\n';

/** The user's project: `add` is wrong, and there are tests, a check and documentation. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "sample",
  "type": "module",
  "scripts": { "test": "sh check.sh", "lint": "true" }
}
`,
  "check.sh": 'grep -q "a + b" src/add.js || { echo "not ok 1 - adds"; exit 1; }\n',
  "src/add.js": "export function add(a, b) {\n  return 0;\n}\n",
  "src/old.js": "export const old = 1;\n",
  "test/add.test.js": `import assert from "node:assert";
import { test } from "node:test";
import { add } from "../src/add.js";

test("adds", () => {
  assert.equal(add(1, 2), 3);
});

test("adds nothing", () => {
  assert.equal(add(0, 0), 0);
  assert.equal(add(-1, 1), 0);
});
`,
  "test/old.test.js": `import assert from "node:assert";
import { test } from "node:test";
import { old } from "../src/old.js";

test("old is one", () => assert.equal(old, 1));
`,
  "README.md": "# Sample\n\nAdds numbers.\n",
  ".gitignore": "dist/\n",
};

export const FIX = "sed -i 's/return 0/return a + b/' src/add.js";
export const COMMIT = "git -c user.name=A -c user.email=a@b commit -qam work";

export function row(
  kind: Kind,
  what: string,
  does: string | readonly string[],
  says: string,
  verdict: Ruling,
  more: Partial<LabelledIteration> = {},
): LabelledIteration {
  return { kind, what, does: typeof does === "string" ? [does] : does, says, verdict, ...more };
}
