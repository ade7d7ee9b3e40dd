import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Task } from "../../core/plan/task.ts";
import { beadsFormat } from "./beads/beads-format.ts";
import { RALPHEX } from "./ralphex/ralphex-format.ts";
import type { TaskFormat } from "./task-format.ts";
import { loadTaskListFormat, TASK_LIST } from "./task-list/task-list-format.ts";

await loadTaskListFormat();

const NOW = "2026-02-03T04:05:06.000Z";
const BEADS = beadsFormat(() => NOW);

const read = (format: TaskFormat, text: string): readonly Task[] => format.read(Buffer.from(text), "f").tasks;

function marked(format: TaskFormat, text: string, id: string, isDone = true): string {
  const marking = { isDone, isWanted: (one: string) => one === id };
  return format.mark(Buffer.from(text), "f", marking).file.toString();
}

describe("a list of tasks in YAML", () => {
  test("has the keys of several tools", () => {
    const text = `tasks:
  - id: a
    name: By its name
    description: One.
    details: Two.
    acceptanceCriteria: "- it works\\n- [ ] it is fast"
    test_strategy: run it
    dependencies: [b, c]
    priority: P2
    agent: codex
    max_iterations: 4
    timeout: 20
    completion_promise: YES
    ralph: false
    changes: none
  - id: b
    title: B
    subtasks: [{title: first}, second]
    status: completed
  - {id: c, title: C, state: cancelled}
  - {id: d, title: D, status: on-hold}
  - {id: e, title: E, depends_on: d}
`;
    expect(read(TASK_LIST, text)).toMatchObject([
      {
        id: "a",
        title: "By its name",
        description: "One.\n\nTwo.",
        criteria: ["it works", "it is fast"],
        success: "run it",
        dependsOn: ["b"],
        priority: 2,
        agent: "codex",
        maxIterations: 4,
        timeoutMs: 1_200_000,
        promise: "YES",
        loops: false,
        changes: "none",
      },
      { id: "b", done: true, criteria: ["first", "second"] },
    ]);
  });

  test.each([
    ["a word in quotes", 'tasks: [{title: a, status: "open"}]', 'tasks: [{title: a, status: "closed"}]'],
    [
      "the word of its neighbours",
      "tasks:\n- {title: a, status: x}\n- {title: b, status: Finished}\n",
      "tasks:\n- {title: a, status: Finished}\n- {title: b, status: Finished}\n",
    ],
    [
      "a value that is missing",
      "tasks:\n- title: a\n  done:   # yet\n",
      "tasks:\n- title: a\n  done: true   # yet\n",
    ],
    [
      "two marks",
      "tasks:\n- title: a\n  done: no\n  status: todo\n",
      "tasks:\n- title: a\n  done: true\n  status: done\n",
    ],
    ["no mark, in JSON", '{"tasks": [{"title": "a"}]}', '{"tasks": [{"completed": true, "title": "a"}]}'],
    [
      "no mark, and neighbours with a status",
      "tasks:\n- title: a\n- title: b\n  status: todo\n",
      "tasks:\n- status: done\n  title: a\n- title: b\n  status: todo\n",
    ],
  ])("is marked in %s", (_how, text, expected) => {
    expect(marked(TASK_LIST, text, "a")).toBe(expected);
  });

  test("is open again by the word that others have", () => {
    const before = "tasks:\n- {title: b, status: todo}\n- {title: a, status: todo}\n";
    expect(marked(TASK_LIST, before.replace("a, status: todo", "a, status: done"), "a", false)).toBe(before);
  });

  test("that cannot be marked without changing more is refused before anybody works on it", () => {
    const text = "tasks:\n- title: a\n  status: |\n    todo\n  more: 1\n";
    expect(() => read(TASK_LIST, text)).toThrow("f:2: this task is written in a way that cannot be marked");
    expect(() => TASK_LIST.read(Buffer.from([0x74, 0xff]), "f")).toThrow("f: this is not UTF-8");
  });

  test.each(["status: todo", "status: todo, done: no", "description: more"])(
    "with %s looks at the keys of a task equally often, however many others there are",
    (more) => {
      const listOf = (count: number): string =>
        `tasks:\n${Array.from({ length: count }, (_, at) => `- {title: task ${at}, ${more}}\n`).join("")}`;
      const short = listOf(50);
      const long = listOf(200);
      expect(keysRead(() => read(TASK_LIST, long))).toBeLessThan(5 * keysRead(() => read(TASK_LIST, short)));
      const done = (text: string): string => text.replaceAll("todo", "done").replaceAll("no}", "yes}");
      const takenBack = (text: string): number =>
        keysRead(() => TASK_LIST.mark(Buffer.from(done(text)), "f", { isDone: false, isWanted: () => true }));
      expect(takenBack(long)).toBeLessThan(5 * takenBack(short));
    },
  );
});

/** How often a key was compared while something was done: each time it is put into lower case. */
function keysRead(act: () => void): number {
  const spy = vi.spyOn(String.prototype, "toLowerCase");
  try {
    act();
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

describe("the issues of Beads", () => {
  const issue = (more: object): string => `${JSON.stringify({ title: "t", ...more })}\n`;

  test("that are no work, or not now, are left out with what waits for them", () => {
    const waits = (on: string): object => ({ dependencies: [{ depends_on_id: on, type: "blocks" }] });
    const text = [
      issue({ id: "epic", issue_type: "epic" }),
      issue({ id: "closed-epic", issue_type: "epic", status: "closed" }),
      issue({ id: "later", status: "deferred" }),
      issue({ id: "gone", status: "tombstone", title: "" }),
      issue({ id: "held", status: "blocked" }),
      issue({ id: "waits", ...waits("later") }),
      issue({ id: "waits-too", ...waits("waits") }),
      issue({ id: "goes", status: "blocked", ...waits("gone") }),
      issue({ id: "after-epic", ...waits("closed-epic") }),
    ].join("\n");
    expect(read(BEADS, text).map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
      ["goes", []],
      ["after-epic", []],
    ]);
  });

  test("say since when they are closed, and forget it when that is taken back", () => {
    const text = '{ "id": "a", "title": "é", "status" : "in_progress", "updated_at": "x" }\r\n';
    const closed = marked(BEADS, text, "a");
    expect(closed).toBe(
      `{ "id": "a", "title": "é", "status" : "closed", "updated_at": "${NOW}", "closed_at": "${NOW}" }\r\n`,
    );
    const open = text.replace('"x"', `"${NOW}"`).replace("in_progress", "open");
    expect(marked(BEADS, closed, "a", false)).toBe(open);
  });
});

describe("a plan of ralphex", () => {
  const PLAN =
    "# P\n\n### Task 1: A\nWhy.\n- [x] a\n- [ ] b\n  - [ ] b1\n#### More\n- [ ] c\n### Iteration 2.5: B\n- [ ] d\n### Task 3: nothing\n";

  test("has its boxes as criteria", () => {
    expect(read(RALPHEX, PLAN)).toMatchObject([
      { id: "task-1", title: "A", description: "Why.", criteria: ["a", "b", "b1", "c"], done: false },
      { id: "task-2.5", title: "B", criteria: ["d"] },
    ]);
  });

  test("loses the ticks of a task that is open again", () => {
    expect(marked(RALPHEX, PLAN.replace("[ ] d", "[x] d"), "task-2.5", false)).toBe(PLAN);
    expect(marked(RALPHEX, PLAN, "task-1", false)).toBe(PLAN);
  });

  const NESTED =
    "### Task 1: A\n- [ ] a\n  - [ ] tested\n    1. [ ] deep\n- [x] b\n  - plain\n  - [x] tested\n";

  test("has boxes below boxes ticked too, and is not done before they are", () => {
    const done = NESTED.replaceAll("[ ]", "[x]");
    expect(marked(RALPHEX, NESTED, "task-1")).toBe(done);
    expect(read(RALPHEX, done)).toMatchObject([{ done: true }]);
    expect(read(RALPHEX, done.replace("[x] deep", "[ ] deep"))).toMatchObject([{ done: false }]);
    expect(marked(RALPHEX, done.replace("[x] deep", "[ ] deep"), "task-1")).toBe(done);
  });
});

const words = fc.stringMatching(/^[a-zé€][a-z é€:#-]{0,12}[a-z]$/);
const ending = fc.constantFrom("\n", "\r\n");
const gap = fc.constantFrom("", "  ", "   # note");

/** Files with one task called TARGET: what comes before its mark, the mark, and what comes after. */
const FILES: Readonly<
  Record<string, readonly [TaskFormat, fc.Arbitrary<readonly [string, string, string]>, string]>
> = {
  yaml: [
    TASK_LIST,
    fc
      .tuple(fc.array(words, { maxLength: 4 }), fc.array(words, { maxLength: 4 }), ending, gap, fc.nat(4))
      .map(([above, below, nl, note, indent]) => {
        const pad = " ".repeat(indent);
        const entry = (title: string, at: number): string =>
          `${pad}- title: ${JSON.stringify(`${title}${at}`)}${note}${nl}${pad}  completed: false${nl}`;
        const head = `top: 1${note}${nl}tasks:${nl}${above.map(entry).join("")}`;
        const target = `${pad}- id: TARGET${nl}${pad}  title: t${nl}${pad}  completed: `;
        return [
          `${head}${target}`,
          "false",
          `${note}${nl}${below.map((one, at) => entry(one, at + 10)).join("")}`,
        ];
      }),
    "true",
  ],
  ralphex: [
    RALPHEX,
    fc
      .tuple(fc.array(words, { maxLength: 5 }), fc.array(words, { maxLength: 5 }), ending)
      .map(([above, below, nl]) => {
        const section = (title: string, at: number): string =>
          `### Task ${at}: ${title}${nl}${nl}- [ ] ${title}${nl}  more${nl}`;
        const head = above.map(section).join("");
        return [
          `# P${nl}${head}### Task TARGET: x${nl}- [`,
          " ",
          `] y${nl}${below.map((one, at) => section(one, at + 10)).join("")}`,
        ];
      }),
    "x",
  ],
};

describe("marking changes the mark and not one other byte, in random files", () => {
  test.each(Object.entries(FILES))("%s", (_name, [format, files, mark]) => {
    fc.assert(
      fc.property(files, ([before, old, after]) => {
        const text = `${before}${old}${after}`;
        const [id] = read(format, text)
          .map((task) => task.id)
          .filter((one) => /target/i.test(one));
        const done = marked(format, text, id ?? "");
        expect(done).toBe(`${before}${mark}${after}`);
        expect(marked(format, done, id ?? "", false)).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  test("Beads: only the line of the issue", () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
    const extra = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,6}$/), value, { maxKeys: 4 });
    fc.assert(
      fc.property(fc.array(extra, { minLength: 1, maxLength: 6 }), ending, fc.nat(5), (extras, nl, pick) => {
        const lines = extras.map((more, at) =>
          JSON.stringify({ ...more, id: `bd-${at}`, title: "t", status: "open" }),
        );
        const at = pick % lines.length;
        const after = marked(BEADS, lines.join(nl) + nl, `bd-${at}`).split(nl);
        expect(after.toSpliced(at, 1)).toEqual([...lines.toSpliced(at, 1), ""]);
        expect(JSON.parse(after[at] ?? "")).toEqual({
          ...extras[at],
          id: `bd-${at}`,
          title: "t",
          status: "closed",
          closed_at: NOW,
        });
      }),
      { numRuns: 150 },
    );
  });
});
