import { describe, expect, test } from "vitest";
import { withFields, withStories } from "./story-fields.ts";

const FILE = `{
  "userStories": [
    { "id": "a", "title": "Ä",   "passes": false, "reviewStatus": null },
    {
      "id": "b",
      "title": "B"
    }
  ]
}
`;

function edited(file: string, ...edits: Parameters<typeof withFields>[2]): string {
  return withFields(Buffer.from(file), "tasks.json", edits).toString();
}

describe("setting fields of a story", () => {
  test("changes their values, and not one other byte", () => {
    expect(
      edited(
        FILE,
        { story: "a", field: "passes", value: true },
        { story: "a", field: "reviewStatus", value: "approved" },
      ),
    ).toBe(FILE.replace("false", "true").replace("null", '"approved"'));
  });

  test("adds what is missing in the manner of the story", () => {
    expect(edited(FILE, { story: "b", field: "reviewFeedback", value: 'a\n"b" ü' })).toBe(
      FILE.replace('"title": "B"', '"title": "B",\n      "reviewFeedback": "a\\n\\"b\\" ü"'),
    );
    expect(edited(FILE, { story: "a", field: "reviewCount", value: 1 })).toContain(
      '"reviewStatus": null, "reviewCount": 1 }',
    );
  });

  test("is safe to repeat, and leaves a story alone that is not there", () => {
    const edit = { story: "b", field: "notes", value: "done" } as const;
    expect(edited(edited(FILE, edit), edit)).toBe(edited(FILE, edit));
    expect(edited(FILE, { story: "c", field: "notes", value: "x" })).toBe(FILE);
  });

  test("reaches every story of an id that is there twice", () => {
    const twice = '{"userStories":[{"id":"a","passes":true},{"id":"a","passes":true}]}';
    expect(edited(twice, { story: "a", field: "passes", value: false })).toBe(
      twice.replaceAll("true", "false"),
    );
  });
});

describe("putting stories back", () => {
  const whole = `{
  "userStories": [
    { "id": "a" },
    { "id": "b" },
    { "id": "c" }
  ]
}
`;
  const without = (...ids: readonly string[]): string =>
    JSON.stringify({ userStories: ["a", "b", "c"].filter((id) => !ids.includes(id)).map((id) => ({ id })) });
  const idsAfter = (file: string, ...ids: readonly string[]): readonly string[] => {
    const text = withStories(Buffer.from(file), "tasks.json", Buffer.from(whole), ids).toString();
    return (JSON.parse(text) as { userStories: { id: string }[] }).userStories.map(({ id }) => id);
  };

  test.each([[["a"]], [["b"]], [["c"]], [["a", "b"]], [["b", "c"]], [["a", "b", "c"]]])(
    "brings %j back where they stood",
    (gone) => {
      expect(idsAfter(without(...gone), ...gone)).toEqual(["a", "b", "c"]);
    },
  );

  test("leaves those alone that are there, and new ones too", () => {
    expect(idsAfter('{"userStories":[{"id":"n"},{"id":"a"},{"id":"b"}]}', "b", "c")).toEqual([
      "n",
      "a",
      "b",
      "c",
    ]);
  });

  test("writes them as they stood", () => {
    const file = whole.replace('    { "id": "b" },\n', "");
    const text = withStories(Buffer.from(file), "tasks.json", Buffer.from(whole), ["b"]).toString();
    expect(text).toBe(whole);
  });
});
