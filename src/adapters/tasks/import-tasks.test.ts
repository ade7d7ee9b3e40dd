import { expect, test } from "vitest";
import { importDocument } from "./import-tasks.ts";
import { readPlan } from "./stories-format.ts";

test("a document's checklist becomes stories in its order", () => {
  const { json, count, losses } = importDocument(
    Buffer.from(
      "# The shop\n\nWe sell things.\n\n## Must\n\n- [x] Cart\n  Keeps its content.\n  - [ ] survives a reload\n  - is empty at first\n- [ ] **pay**: Payment\n\n## Nice to have\n\n* [ ] Coupons “%”\n",
    ),
    "prd.md",
    "shop",
  );
  expect(count).toBe(3);
  expect(JSON.parse(json)).toEqual({
    project: "The shop",
    branchName: null,
    description: "",
    verifyCommands: [],
    userStories: [
      {
        id: "US-001",
        title: "Cart",
        description: "Keeps its content.",
        acceptanceCriteria: ["survives a reload", "is empty at first"],
        priority: 1,
        passes: true,
      },
      { id: "US-002", title: "Payment", description: "", acceptanceCriteria: [], priority: 2, passes: false },
      {
        id: "US-003",
        title: "Coupons “%”",
        description: "",
        acceptanceCriteria: [],
        priority: 3,
        passes: false,
      },
    ],
  });
  expect(losses).toEqual(['the heading "Optional" of US-003']);
  expect(readPlan(Buffer.from(json), "tasks.json").stories).toHaveLength(3);
});

test.each([
  ["- [ ] alpha\n", "größer"],
  ["\n1. [ ] alpha\n", "größer"],
  ["---\na: 1\n---\n<!-- mine -->\n* [ ] alpha\n\n## Läter\n", "Läter"],
  ["The shop\n========\n\n- [ ] alpha\n", "The shop"],
])("the stories of %j belong to %j", (text, project) => {
  const { json } = importDocument(Buffer.from(text), "prd.md", "größer");
  expect(JSON.parse(json)).toMatchObject({ project });
});

test("a document without a checklist is refused", () => {
  expect(() => importDocument(Buffer.from("# The shop\n\n- sell things\n"), "prd.md", "shop")).toThrow(
    "prd.md has no checklist",
  );
});
