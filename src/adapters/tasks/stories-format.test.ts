import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TaskSource } from "../../engine/ports.ts";
import { STORIES, withFields } from "./stories-format.ts";
import { createFileSource } from "./task-format.ts";

let root: string;
let path: string;
let source: TaskSource;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  path = join(root, "tasks.json");
  source = createFileSource({ root, path: "tasks.json" }, STORIES);
});
afterEach(() => rmSync(root, { recursive: true }));

const story = (id: string, more: object = {}): object => ({
  id,
  title: `make ${id}`,
  passes: false,
  ...more,
});
const put = (plan: unknown): void => writeFileSync(path, JSON.stringify(plan, null, 2));

test("a story is a task", async () => {
  put({
    project: "P",
    branchName: "ralph/p",
    description: "about P",
    verifyCommands: ["npm test", "", "npm run lint"],
    userStories: [
      {
        id: "US-001",
        title: " Log in ",
        description: "As a user",
        acceptanceCriteria: ["works", "is fast"],
        priority: 2,
        passes: true,
        notes: "see RFC 1",
        dependsOn: ["US-002"],
        colour: "green",
      },
      { id: "US-002", title: "Sign up", notes: "alone", description: null, dependsOn: null, priority: null },
      { id: 3, title: "Numbered", changes: "none" },
    ],
  });
  const { tasks, source: identity } = await source.observe();
  expect(identity).toEqual({ kind: "tasks-json", label: "tasks.json", path: "tasks.json" });
  expect(tasks[0]).toEqual({
    id: "US-001",
    title: "Log in",
    phase: null,
    description: "As a user\n\nNotes: see RFC 1",
    criteria: ["works", "is fast"],
    success: null,
    dependsOn: ["US-002"],
    priority: 2,
    agent: null,
    timeoutMs: null,
    maxIterations: null,
    promise: null,
    loops: true,
    done: true,
    optional: false,
  });
  expect(tasks[1]).toMatchObject({ description: "Notes: alone", dependsOn: [], priority: null, done: false });
  expect(tasks[2]).toMatchObject({ id: "3", changes: "none" });
  expect(await source.demands()).toEqual({ checks: ["npm test", "npm run lint"], branch: "ralph/p" });
});

test.each<[string, object]>([
  ["nothing", {}],
  ["null", { branchName: null, verifyCommands: null }],
  ["empty values", { branchName: " ", verifyCommands: [] }],
])("a file that demands %s demands nothing", async (_name, more) => {
  put({ userStories: [], ...more });
  expect(await source.demands()).toEqual({ checks: [], branch: null });
});

describe("marking changes `passes` and not one other byte", () => {
  const others = '{"id":"a","title":"x","passes":false}';
  test.each<[string, string, string?]>([
    ["one line", `{"userStories":[${others},{"id":"target","title":"t","passes":§}]}`],
    [
      "odd indentation",
      '{\n   "userStories" :\t[\n {\n"id" : "target" ,\n\n  "title":"t"\n,"passes"\t:\n  §\n}]\n\n}\n\n',
    ],
    [
      "Windows line endings",
      '{\r\n  "userStories": [\r\n    {"id": "target", "title": "t", "passes": §}\r\n  ]\r\n}\r\n',
    ],
    ["a byte order mark", '\uFEFF{"userStories":[{"id":"target","title":"t","passes":§}]}'],
    [
      "tabs",
      '{\n\t"userStories": [\n\t\t{\n\t\t\t"id": "target",\n\t\t\t"title": "t",\n\t\t\t"passes": §\n\t\t}\n\t]\n}',
    ],
    ["the key before the id", '{"userStories":[{"passes":§,"title":"t","id":"target"}]}'],
    ["an id in escapes", '{"userStories":[{"id":"t\\u0061rget","title":"t","passes":§}]}'],
    ["a key in escapes", '{"userStories":[{"id":"target","title":"t","p\\u0061sses":§}]}'],
    [
      "the same words inside a text",
      '{"userStories":[{"id":"a","title":"\\"id\\":\\"target\\",\\"passes\\":false"},{"id":"target","title":"\\"passes\\": false }","passes":§,"notes":"\\"passes\\":false"}]}',
    ],
    [
      "the same words in unknown keys",
      '{"x":{"id":"target","passes":false},"userStories":[{"id":"target","title":"t","meta":{"passes":false,"id":"a"},"passes":§}],"y":[{"id":"target","passes":false}]}',
    ],
    [
      "two lists of that name",
      '{"userStories":[{"id":"target","title":"t","passes":false}],"userStories":[{"id":"target","title":"t","passes":§}]}',
    ],
    ["the key twice", '{"userStories":[{"id":"target","title":"t","passes":false,"passes":§}]}'],
    [
      "multi-byte characters",
      '{"project":"Ü🎉","userStories":[{"id":"target","title":"é","passes":§,"notes":"任务"}]}',
    ],
    [
      "numbers that JSON would print otherwise",
      '{"v":1.0e2,"userStories":[{"id":"target","title":"t","priority":1.50,"passes":§}]}',
    ],
    [
      "other stories around",
      `{"userStories":[${others},{"id":"target","title":"t","passes":§},${others.replace('"a"', '"b"')}]}`,
    ],
    [
      "a story named like something every object has",
      '{"userStories":[{"id":"target","title":"__proto__","passes":§,"constructor":1}]}',
    ],
  ])("%s", async (_name, pattern) => {
    const [open, marked] = [pattern.replace("§", "false"), pattern.replace("§", "true")];
    writeFileSync(path, open);
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe(marked);
    expect((await source.observe()).tasks.find((task) => task.id === "target")?.done).toBe(true);
    expect(source.markedIn(readFileSync(path), "target", false).toString()).toBe(open);
  });

  test.each([
    ["one line", '{"userStories":[{"id":"target","title":"t"§}]}', ',"passes":true'],
    ["one line with spaces", '{ "userStories": [ { "id": "target", "title": "t"§ } ] }', ', "passes": true'],
    [
      "an indent",
      '{"userStories": [\n  {\n    "id": "target",\n    "title": "t"§\n  }\n]}\n',
      ',\n    "passes": true',
    ],
    [
      "Windows line endings",
      '{"userStories": [\r\n\t{\r\n\t\t"id": "target",\r\n\t\t"title": "t"§\r\n\t}\r\n]}',
      ',\r\n\t\t"passes": true',
    ],
    ["commas in front", '{"userStories": [{\n  "id":"target"\n, "title":"t"§\n}]}', ', "passes":true'],
    [
      "a list at the end",
      '{"userStories": [{"id":"target", "title":"t", "acceptanceCriteria": ["a, b"]§}]}',
      ', "passes": true',
    ],
  ])("a story without the key gets it in the file's manner: %s", async (_name, pattern, inserted) => {
    writeFileSync(path, pattern.replace("§", ""));
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe(pattern.replace("§", inserted));
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe(pattern.replace("§", inserted));
  });

  test("null becomes true", async () => {
    writeFileSync(path, '{"userStories":[{"id":"target","title":"t","passes":null}]}');
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe('{"userStories":[{"id":"target","title":"t","passes":true}]}');
  });

  test("of random files, exactly as a parser and a printer would, and byte for byte around it", async () => {
    const entry = fc.record(
      {
        title: fc.constantFrom("t", '"passes": false', "ü 🎉", "}],{"),
        passes: fc.option(fc.boolean()),
        notes: fc.string({ unit: "binary" }),
        more: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: ["title"] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.constantFrom(0, 1, 2, "\t"),
        async (entries, choice, indent) => {
          const userStories = entries.map((one, at) => ({ id: `s-${at}`, ...one }));
          const chosen = userStories[choice % userStories.length];
          fc.pre(chosen !== undefined);
          const before = JSON.stringify({ project: "p", userStories, last: "passes" }, null, indent);
          writeFileSync(path, before);
          await source.mark(chosen.id);
          const expected = userStories.map((one) => (one === chosen ? { ...one, passes: true } : one));
          expect(readFileSync(path, "utf8")).toBe(
            JSON.stringify({ project: "p", userStories: expected, last: "passes" }, null, indent),
          );
        },
      ),
      { numRuns: 300, seed: 20_261_115 },
    );
  });

  test("nothing is written when there is nothing to do", async () => {
    put({ userStories: [story("a", { passes: true })] });
    utimesSync(path, 1_000, 1_000);
    await source.mark("a");
    await source.mark("gone");
    expect(statSync(path).mtimeMs).toBe(1_000_000);
  });
});

describe("what cannot be worked on is refused with its place", () => {
  test.each([
    [
      "a comma too many",
      '{"userStories": [\n  {"id": "a",}\n]}',
      "tasks.json:2:14: this is not JSON; expected a key in double quotes",
    ],
    [
      "a comment",
      '{\n  // stories\n  "userStories": []}',
      'tasks.json:2:3: this is not JSON; expected a key in double quotes or "}"',
    ],
    ["half a file", '{"userStories": [', "tasks.json:1:18: this is not JSON; expected a value"],
    ["an empty file", "", "tasks.json:1:1: this is not JSON; expected a value"],
    ["the column after é", '{"é": x}', "tasks.json:1:7: this is not JSON; expected a value"],
    ["a list", "[]", 'tasks.json:1:1: expected an object with "userStories"'],
    ["no stories", "{}", 'tasks.json:1:1: "userStories" is missing; expected a list of stories'],
    [
      "stories that are no list",
      '{"userStories": {}}',
      'tasks.json:1:17: "userStories" must be a list of stories',
    ],
    [
      "a story that is no object",
      '{"userStories": ["a"]}',
      "tasks.json:1:18: userStories[0] must be an object",
    ],
    [
      "a story without an id",
      '{"userStories": [{"title": "t"}]}',
      'tasks.json:1:18: userStories[0]: "id" is missing',
    ],
    [
      "an empty id",
      '{"userStories": [{"id": " "}]}',
      'tasks.json:1:25: userStories[0]: "id" must be a text that is not empty',
    ],
    ["no title", '{"userStories": [{"id": "a"}]}', 'tasks.json:1:18: story "a": "title" is missing'],
    [
      "a wrong title",
      '{"userStories": [{"id": "a", "title": 1}]}',
      'tasks.json:1:39: story "a": "title" must be a text',
    ],
    [
      "a wrong priority",
      '{"userStories": [{"id": "a", "title": "t", "priority": "high"}]}',
      'story "a": "priority" must be a number',
    ],
    [
      "wrong changes",
      '{"userStories": [{"id": "a", "title": "t", "changes": "some"}]}',
      'tasks.json:1:55: story "a": "changes" must be null or none',
    ],
    [
      "wrong passes",
      '{"userStories": [{"id": "a", "title": "t", "passes": "no"}]}',
      'story "a": "passes" must be true or false',
    ],
    [
      "wrong criteria",
      '{"userStories": [{"id": "a", "title": "t",\n "acceptanceCriteria": [1]}]}',
      'tasks.json:2:25: story "a": "acceptanceCriteria" must be a list of texts',
    ],
    [
      "wrong dependencies",
      '{"userStories": [{"id": "a", "title": "t", "dependsOn": "b"}]}',
      'story "a": "dependsOn" must be a list of texts',
    ],
    [
      "wrong commands",
      '{"verifyCommands": "npm test", "userStories": []}',
      'tasks.json:1:20: "verifyCommands" must be a list of texts',
    ],
    ["a wrong branch", '{"branchName": 1, "userStories": []}', '"branchName" must be a text'],
    [
      "a duplicate id",
      '{"userStories": [\n{"id": "a", "title": "t"},\n{"id": "a", "title": "t"}]}',
      'tasks.json: the id "a" is used twice, in lines 2 and 3',
    ],
    [
      "an unknown dependency",
      '{"userStories": [\n\n{"id": "a", "title": "t", "dependsOn": ["b"]}]}',
      'tasks.json: line 3: "a" depends on "b", which does not exist',
    ],
    [
      "a circle",
      '{"userStories": [\n{"id": "a", "title": "t", "dependsOn": ["a"]}]}',
      'tasks.json: the dependencies go round in a circle: "a" (line 2) → "a"',
    ],
  ])("%s", async (_name, text, problem) => {
    writeFileSync(path, text);
    await expect(source.observe()).rejects.toMatchObject({
      code: "bad-tasks",
      message: expect.stringContaining(problem) as string,
    });
  });
});

describe("a file that is edited, broken or gone", () => {
  test("the story is found again after somebody edited the file, even if another is unusable now", async () => {
    put({ userStories: [story("a"), story("target")] });
    await source.observe();
    writeFileSync(
      path,
      '{"userStories":[{"id":"new","title":7},{"id":"target","title":"new words","passes":false}]}',
    );
    await source.mark("target");
    expect(readFileSync(path, "utf8")).toBe(
      '{"userStories":[{"id":"new","title":7},{"id":"target","title":"new words","passes":true}]}',
    );
  });

  test("in what is no JSON no mark can be made, and that is said", async () => {
    writeFileSync(path, "{");
    await expect(source.mark("a")).rejects.toMatchObject({ code: "bad-tasks" });
    rmSync(path);
    await source.mark("a");
  });
});

test("a large file is read in reasonable time", async () => {
  put({ userStories: Array.from({ length: 20_000 }, (_, at) => story(`US-${at}`)) });
  const before = process.cpuUsage();
  expect((await source.observe()).tasks).toHaveLength(20_000);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
});

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

const file = (stories: string): Buffer => Buffer.from(`{ "userStories": [${stories}] }\n`);

test("a story that is to do again is neither passed nor reviewed; its feedback and the others stay", () => {
  const others = '{ "id": "B", "title": "b", "passes": true, "reviewStatus": "approved" }';
  const before = file(
    `{ "id": "A", "title": "a", "passes": true, "reviewStatus": "approved", "reviewCount": 2, "reviewFeedback": "x" }, ${others}`,
  );
  expect(STORIES.mark(before, "tasks.json", "A", false)).toEqual(
    file(
      `{ "id": "A", "title": "a", "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "x" }, ${others}`,
    ),
  );
});

test("fields that a story has not are not added", () => {
  const before = file('{ "id": "A", "title": "a", "passes": true }');
  expect(STORIES.mark(before, "tasks.json", "A", false)).toEqual(
    file('{ "id": "A", "title": "a", "passes": false }'),
  );
});
