import { expect, test } from "vitest";
import { importChecklist } from "./import-checklist.ts";
import { scanTasksJson } from "../scan-tasks-json.ts";

test("a document's checklist becomes stories in its order", () => {
  const { json, count, losses } = importChecklist(
    Buffer.from(
      "# The shop\n\nWe sell things.\n\n## Must\n\n- [x] Cart\n  Keeps its content.\n  - [ ] survives a reload\n  - is empty at first\n- [ ] **pay**: Payment\n\n## Nice to have\n\n* [ ] Coupons “%”\n",
    ),
    "prd.md",
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
  expect(scanTasksJson(Buffer.from(json), "tasks.json").stories).toHaveLength(3);
});

test("a document without a checklist is refused", () => {
  expect(() => importChecklist(Buffer.from("# The shop\n\n- sell things\n"), "prd.md")).toThrow(
    "prd.md has no checklist",
  );
});
