import { expect, test } from "vitest";
import { reopenStory } from "./mark-stories.ts";

const file = (stories: string): Buffer => Buffer.from(`{ "userStories": [${stories}] }\n`);

test("a story that is to do again is neither passed nor reviewed; its feedback and the others stay", () => {
  const others = '{ "id": "B", "title": "b", "passes": true, "reviewStatus": "approved" }';
  const before = file(
    `{ "id": "A", "title": "a", "passes": true, "reviewStatus": "approved", "reviewCount": 2, "reviewFeedback": "x" }, ${others}`,
  );
  expect(reopenStory(before, "tasks.json", "A")).toEqual(
    file(
      `{ "id": "A", "title": "a", "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "x" }, ${others}`,
    ),
  );
});

test("fields that a story has not are not added", () => {
  const before = file('{ "id": "A", "title": "a", "passes": true }');
  expect(reopenStory(before, "tasks.json", "A")).toEqual(
    file('{ "id": "A", "title": "a", "passes": false }'),
  );
});
