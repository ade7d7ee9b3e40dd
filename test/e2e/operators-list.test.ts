import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Death } from "./die-at-step.ts";
import {
  createProject,
  RALPH,
  TOLD_TO_GO,
  tellToGo,
  until,
  WORKS,
  type Project,
  type ProjectOptions,
  type Steps,
} from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** A repository whose only tasks are in this file. */
function projectWith(path: string, text: string, options: ProjectOptions = {}): Project {
  const made = createProject(options);
  made.remove("TODO.md");
  made.write(path, text);
  made.commit("plan");
  return made;
}

const TODO = "# Plan\n\n- [ ] **one**: make one\n- [ ] **two**: make two\n";
const ROADMAP =
  "# Plan\n\n- [ ] **one**: make one\n  - ralph: true\n- [ ] **two**: make two\n  - ralph: true\n  - depends: one\n";
const STORIES = `{
  "verifyCommands": ["test ! -e broken"],
  "userStories": [
    {"id": "one", "title": "make one", "passes": false},
    {"id": "two", "title": "make two", "passes": false}
  ]
}
`;

interface List {
  readonly path: string;
  readonly text: string;
  /** As it is when both tasks are done. */
  readonly done: string;
}

const LISTS: readonly List[] = [
  { path: "TODO.md", text: TODO, done: TODO.replaceAll(/\[ \](?= \*\*(one|two))/g, "[x]") },
  { path: "roadmap.md", text: ROADMAP, done: ROADMAP.replaceAll("[ ]", "[x]") },
  { path: "tasks.json", text: STORIES, done: STORIES.replaceAll("false", "true") },
];

/** What an agent of the task "one" does to any of the lists; `$L` is its path. */
const TRICKS: readonly (readonly [what: string, shell: string, words: RegExp])[] = [
  ["ticks all", String.raw`sed -i 's/\[ \]/[x]/; s/false/true/' $L`, /ticked one, two/],
  ["deletes its own task", "sed -i '/one/,+1{/one/d}' $L", /removed one|reworded|changed|unusable/],
  ["rewords all titles", "sed -i 's/make/do not make/' $L", /reworded "make one" to "do not make one"/],
  ["overwrites the list with a plan of its own", "printf -- '- [x] plan\\n' > $L", /removed one|unusable/],
  ["empties the file", ": > $L", /removed one|unusable/],
  ["deletes the file", "rm $L", /deleted the file/],
  ["commits a deletion", "git rm -q $L && git commit -qm gone", /deleted the file/],
  ["puts a link in its place", "ln -sf README.md $L", /replaced the file by a link/],
  ["puts a link in its place that leads outside", "ln -sf /etc/hostname $L", /replaced the file by a link/],
  ["puts a folder in its place", "rm $L && mkdir $L && touch $L/x", /something else/],
];

function cheats(shell: string, path: string, ...more: Steps): Steps {
  return [WORKS[0]!, { shell: shell.replaceAll("$L", path) }, ...more];
}

async function proposals(): Promise<readonly { iteration: number; task: string; changes: string }[]> {
  return JSON.parse((await project.ralph("tasks", "proposals", "--json")).stdout) as never;
}

/** Each trick on one list in turn: how each format is put back is specified in test/contract. */
const TRIED = TRICKS.map(([what, shell, words], at) => ({
  what,
  shell,
  words,
  ...LISTS[at % LISTS.length]!,
}));

test.each(TRIED)(
  "an agent that works from $path and $what is undone, and all tasks are done in the end",
  async ({ path, text, done, shell, words }) => {
    project = projectWith(path, text);
    project.script({ one: [cheats(shell, path), WORKS] }, [WORKS]);
    project.commit();
    const run = await project.ralph("run");
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(project.read(path)).toBe(done);
    expect(lstatSync(join(project.root, path)).isFile()).toBe(true);
    expect(project.git("status", "--porcelain", path)).toBe("");
    const facts = await project.events();
    const evidence = facts.find(({ type }) => type === "evidence.collected") as never as {
      evidence: { list?: readonly unknown[] };
    };
    expect(evidence.evidence.list).toBeDefined();
    const why = await project.ralph("why", "1");
    expect(why.stdout).toMatch(words);
  },
);

test("an item that the agent ticks and annotates stays one task, and ends ticked once", async () => {
  const text = "- [ ] Add more()\n- [ ] Add less()\n";
  project = projectWith("TODO.md", text);
  const annotates = { shell: "sed -i 's/\\[ \\] Add more()/[x] Add more() (done)/' TODO.md" };
  project.script({ "add-more": [[WORKS[0]!, annotates, { promise: "COMPLETE" }]] }, [WORKS]);
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  expect(project.read("TODO.md")).toBe(text.replaceAll("[ ]", "[x]"));
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
  expect(await proposals()).toMatchObject([
    {
      task: expect.stringContaining("add-more") as string,
      changes: expect.stringContaining('reworded "Add more()"') as string,
    },
  ]);
  expect(await project.ralph("tasks", "accept", "1")).toMatchObject({ code: 0 });
  expect(project.read("TODO.md")).toBe("- [x] Add more() (done)\n- [x] Add less()\n");
});

test("a task that the agent moves under Nice to have still has to be done", async () => {
  const moved = "- [ ] **two**: make two\n\n## Nice to have\n\n- [ ] **one**: make one\n";
  project = projectWith("TODO.md", TODO);
  const moves = { write: { path: "TODO.md", text: moved } };
  project.script({ one: [[moves, { promise: "COMPLETE" }]] }, [WORKS]);
  project.commit();
  const run = await project.ralph("run", "--max-iterations", "3");
  expect(run.code).not.toBe(0);
  expect(project.read("TODO.md")).not.toContain("Nice");
  expect(project.read("TODO.md")).toContain("- [ ] **one**");
  expect(run.stdout).toContain("Proposals:   1 edit of the task list by an agent, undone");
  expect(await proposals()).toMatchObject([{ changes: expect.stringMatching(/^moved one/) as string }]);
  expect((await project.ralph("inbox")).stdout).toContain("ralph tasks accept");
  expect(JSON.parse((await project.ralph("status", "--json")).stdout)).toMatchObject({ proposals: 1 });
});

test("the next prompt says in one sentence what became of the edit", async () => {
  project = projectWith("TODO.md", TODO);
  const said = "you edited the task list (removed two). Your edit was undone and kept as a proposal";
  project.script({
    one: [
      [{ shell: "sed -i /two/d TODO.md" }, { promise: "COMPLETE" }],
      [{ expectPrompt: said }, { expectPrompt: "only the task list was edited" }, ...WORKS],
    ],
    two: [WORKS],
  });
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  expect((await project.history())[0]?.reasons.join()).toContain("only the task list was edited");
});

describe("with review fields", () => {
  const story = (id: string, more = ""): string =>
    `    {"id": "${id}", "title": "make ${id}", "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": ""${more}}`;
  const REVIEWED = `{\n  "verifyCommands": ["test ! -e broken"],\n  "userStories": [\n${story("one")},\n${story("two")}\n  ]\n}\n`;
  const edit = (script: string): { shell: string } => ({
    shell: `node -e 'const fs = require("fs"); const f = JSON.parse(fs.readFileSync("tasks.json", "utf8")); const [one, two] = f.userStories; ${script}; fs.writeFileSync("tasks.json", JSON.stringify(f))'`,
  });

  test("the story's own legal step stays, and all else that the agent edits is undone and proposed", async () => {
    project = projectWith("tasks.json", REVIEWED);
    const steps = edit(
      'one.reviewStatus = "needs_review"; one.notes = "see one.txt"; one.title = "less"; two.title = "nothing"; f.verifyCommands = []; f.userStories.push({ id: "new", title: "mine" })',
    );
    project.write(
      ".ralph/script.json",
      JSON.stringify({ iterations: [[WORKS[0]!, steps, { promise: "COMPLETE" }]] }),
    );
    project.commit();
    await project.ralph("run", "--max-iterations", "1");
    const legal = REVIEWED.replace('"reviewStatus": null', '"reviewStatus": "needs_review"').replace(
      '"notes": ""',
      '"notes": "see one.txt"',
    );
    expect(project.read("tasks.json")).toBe(legal);
    const [proposal] = await proposals();
    expect(proposal?.changes).toMatch(/reworded "make one" to "less"|removed/);
    expect(proposal?.changes).toContain('added "mine"');
    expect(proposal?.changes).toContain('from "test ! -e broken" to none');
  });

  test("legal steps alone are no proposal, however the file is written", async () => {
    project = projectWith("tasks.json", REVIEWED);
    const steps = edit('one.reviewStatus = "needs_review"');
    project.write(
      ".ralph/script.json",
      JSON.stringify({ iterations: [[WORKS[0]!, steps, { promise: "COMPLETE" }]] }),
    );
    project.commit();
    await project.ralph("run", "--max-iterations", "1");
    expect(project.read("tasks.json")).toBe(
      REVIEWED.replace('"reviewStatus": null', '"reviewStatus": "needs_review"'),
    );
    expect(await proposals()).toEqual([]);
  });

  test("and --skip-review an agent's passes of its own story is a claim, and of another is not", async () => {
    project = projectWith("tasks.json", REVIEWED);
    project.script({ one: [[WORKS[0]!, edit("one.passes = true; two.passes = true")]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run", "--skip-review")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ task, verdict }) => `${task} ${verdict}`)).toEqual([
      "one accepted",
      "two accepted",
    ]);
    expect(project.read("tasks.json")).toBe(REVIEWED.replaceAll('"passes": false', '"passes": true'));
    expect(await proposals()).toEqual([]);
  });

  test("and --skip-review a passes without work is taken back", async () => {
    project = projectWith("tasks.json", REVIEWED);
    project.script({ one: [[edit("one.passes = true")]] }, [WORKS]);
    project.commit();
    const run = await project.ralph("run", "--skip-review", "--max-iterations", "1");
    expect(run.code).toBe(1);
    expect(project.read("tasks.json")).toBe(REVIEWED);
  });
});

describe("with a prompt and a plan of the agent's own", () => {
  const TICKS = { shell: "sed -i 's/\\[ \\]/[x]/' @fix_plan.md; date +%N >> work.txt" };

  function promptProject(gate: string): Project {
    const made = projectWith("PROMPT.md", "# Build it\n", {
      config: `agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[[gates]]\nname = "check"\ncommand = "${gate}"\n`,
    });
    made.write("@fix_plan.md", "- [ ] cart\n");
    return made;
  }

  test("every box ticked is a claim, which holds with green gates", async () => {
    project = promptProject("true");
    project.script({}, [[TICKS]]);
    project.commit();
    expect(await project.ralph("run", "--max-iterations", "3")).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["accepted"]);
    expect(project.read("@fix_plan.md")).toBe("- [x] cart\n");
    expect(await proposals()).toEqual([]);
  });

  test.each([
    ["with a red gate", "test -e good", TICKS],
    ["with nothing else done", "true", { shell: TICKS.shell.replace(/;.*/, "") }],
    ["of a plan put in its place", "true", { shell: "echo '- [x] other '$(date +%N) > @fix_plan.md" }],
  ])("%s it is rejected, in this run and in the next one", async (_what, gate, ticks) => {
    project = promptProject(gate);
    project.script({}, [[ticks]]);
    project.commit();
    for (const attempt of [1, 2]) {
      const run = await project.ralph("run", "--max-iterations", "1");
      expect([attempt, run.code]).toEqual([attempt, 1]);
    }
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["rejected", "rejected"]);
  });

  test("the prompt itself is the operator's", async () => {
    project = promptProject("true");
    project.script({}, [[{ shell: "echo '# Done' > PROMPT.md" }, TICKS]]);
    project.commit();
    await project.ralph("run", "--max-iterations", "3");
    expect(project.read("PROMPT.md")).toBe("# Build it\n");
    expect(await proposals()).toMatchObject([{ changes: "changed PROMPT.md" }]);
  });
});

describe("a proposal", () => {
  /** The agent of "one" adds a task and rewords another; proposal 1 is open. */
  async function proposed(): Promise<void> {
    project = projectWith("TODO.md", TODO);
    const edits = {
      shell: "sed -i 's/make two/make two, twice/' TODO.md; echo '- [ ] **three**: make three' >> TODO.md",
    };
    project.script({ one: [[WORKS[0]!, edits, { promise: "COMPLETE" }]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  }

  test("that is accepted is in the list with all marks, and is worked on as the operator's", async () => {
    await proposed();
    expect(project.read("TODO.md")).toBe(TODO.replaceAll("[ ]", "[x]"));
    expect(await proposals()).toEqual([
      {
        number: 1,
        task: "one",
        iteration: 1,
        path: "TODO.md",
        changes: 'reworded "make two" to "make two, twice"; added "make three"',
      },
    ]);
    const accepted = await project.ralph("tasks", "accept", "1");
    expect(accepted).toMatchObject({ code: 0, stdout: "accepted proposal 1: TODO.md now has it\n" });
    const done = "# Plan\n\n- [x] **one**: make one\n- [x] **two**: make two, twice\n";
    expect(project.read("TODO.md")).toBe(`${done}- [ ] **three**: make three\n`);
    expect(await proposals()).toEqual([]);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toBe(`${done}- [x] **three**: make three\n`);
    expect((await project.events()).filter(({ type }) => type === "proposal.settled")).toMatchObject([
      { number: 1, as: "accepted" },
    ]);
  });

  test("that is dismissed changes nothing and is asked about no longer", async () => {
    await proposed();
    const before = project.read("TODO.md");
    expect(await project.ralph("tasks", "dismiss", "1")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toBe(before);
    expect(await proposals()).toEqual([]);
    expect(await project.ralph("tasks", "accept", "1")).toMatchObject({ code: 64 });
  });

  test("against which a person has changed the same line names both and changes nothing", async () => {
    await proposed();
    const mine = project.read("TODO.md").replace("make two", "make two thrice");
    project.write("TODO.md", mine);
    const refused = await project.ralph("tasks", "accept", "1");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("make two thrice");
    expect(refused.stderr).toContain("make two, twice");
    expect(project.read("TODO.md")).toBe(mine);
    expect(await proposals()).toHaveLength(1);
  });

  test("cannot be accepted by an agent", async () => {
    project = projectWith("TODO.md", TODO);
    const accepts = { shell: `${RALPH} tasks accept 1 2>> refusals.txt; true` };
    project.script(
      { one: [[{ shell: "sed -i /two/d TODO.md" }], [WORKS[0]!, accepts, { promise: "COMPLETE" }]] },
      [WORKS],
    );
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(project.read("refusals.txt")).toContain("that is for a person to do");
    expect(project.read("TODO.md")).toBe(TODO.replaceAll("[ ]", "[x]"));
  });

  test("that a person accepts while an agent works counts for the running run", async () => {
    project = projectWith("TODO.md", TODO);
    const adds = { shell: "echo '- [ ] **three**: make three' >> TODO.md" };
    project.script(
      {
        one: [[WORKS[0]!, adds, { promise: "COMPLETE" }]],
        two: [[WORKS[0]!, { shell: "sed -i /one/d TODO.md" }, TOLD_TO_GO, { promise: "COMPLETE" }]],
      },
      [WORKS],
    );
    project.commit();
    const running = project.start("run");
    await until("the second agent has edited the list", () => !project.read("TODO.md").includes("one"));
    expect(await project.ralph("tasks", "accept", "1")).toMatchObject({ code: 0 });
    expect(await project.ralph("tasks", "add", "make four")).toMatchObject({ code: 0 });
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toBe(
      `${TODO}- [ ] **three**: make three\n- [ ] make four\n`.replaceAll("[ ]", "[x]"),
    );
  });
});

describe("a person who edits the list while an agent works", () => {
  const structured = (tools: string): string => `cat > /dev/null
test $RALPH_TASK_ID = two && echo two > two.txt && echo '{"type":"result","subtype":"success","is_error":false,"result":"<promise>COMPLETE</promise>","session_id":"s"}' && exit
echo one > one.txt
touch ../home/started
until test -e ../home/go; do sleep 0.05; done
${tools}
echo '{"type":"result","subtype":"success","is_error":false,"result":"<promise>COMPLETE</promise>","session_id":"s"}'
`;
  const tool = (name: string, input: object): string =>
    `echo '${JSON.stringify({ type: "assistant", session_id: "s", message: { id: "m", content: [{ type: "tool_use", id: name, name, input }] } })}'
echo '${JSON.stringify({ type: "user", session_id: "s", message: { content: [{ type: "tool_result", tool_use_id: name }] } })}'`;

  async function editedMeanwhile(tools: string): Promise<void> {
    project = projectWith("TODO.md", TODO, {
      config: 'agent = "wrapped"\n[agents.wrapped]\nformat = "claude"\ncommand = ["sh", "../agent.sh"]\n',
    });
    project.write("../agent.sh", structured(tools));
    const running = project.start("run");
    await until("the agent works", () => existsSync(join(project.root, "../home/started")));
    project.write(
      "TODO.md",
      TODO.replace("make one", "make one well").replace("- [ ] **two**: make two\n", ""),
    );
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
  }

  test("is not taken for the agent when its tools tell that it neither wrote it nor ran a command", async () => {
    await editedMeanwhile(tool("Write", { file_path: "one.txt" }));
    expect(project.read("TODO.md")).toBe("# Plan\n\n- [x] **one**: make one well\n");
    expect(await proposals()).toEqual([]);
  });

  test.each([
    ["ran a command", tool("Bash", { command: "true" })],
    ["wrote the list", tool("Edit", { file_path: "TODO.md" })],
  ])("and may be the agent, which %s: it is undone and kept as a proposal", async (_what, tools) => {
    await editedMeanwhile(tools);
    expect(project.read("TODO.md")).toBe(TODO.replaceAll("[ ]", "[x]"));
    expect(await proposals()).toMatchObject([
      { changes: 'removed two; reworded "make one" to "make one well"' },
    ]);
    expect(await project.ralph("tasks", "accept", "1")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toBe("# Plan\n\n- [x] **one**: make one well\n");
  });
});

describe("kill -9 of ralph", () => {
  test("while an agent has edited the list: the next run puts it back first", async () => {
    project = projectWith("tasks.json", STORIES);
    const empties = { write: { path: "tasks.json", text: '{"verifyCommands": [], "userStories": []}' } };
    project.script({ one: [[empties, { shell: "touch ../home/edited" }, TOLD_TO_GO], WORKS] }, [WORKS]);
    project.commit();
    const running = project.start("run");
    await until("the agent has edited the list", () => existsSync(join(project.root, "../home/edited")));
    running.child.kill("SIGKILL");
    await running.finished;
    const again = await project.ralph("run");
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("tasks.json")).toBe(STORIES.replaceAll("false", "true"));
    expect((await proposals()).map(({ iteration }) => iteration)).toEqual([1]);
  });

  test("while an agent has deleted the list: the next run finds it by itself", async () => {
    project = projectWith("TODO.md", TODO);
    project.script({ one: [[{ remove: "TODO.md" }, TOLD_TO_GO], WORKS] }, [WORKS]);
    project.commit();
    const running = project.start("run");
    await until("the list is gone", () => !existsSync(join(project.root, "TODO.md")));
    running.child.kill("SIGKILL");
    await running.finished;
    expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
    expect(project.read("TODO.md")).toBe(TODO.replaceAll("[ ]", "[x]"));
  });

  test("at any step of the putting back loses nothing", async () => {
    const lines = (): readonly string[] => readFileSync(join(project.root, "../steps"), "utf8").split("\n");
    const open = async (step: number): Promise<unknown> => {
      project = projectWith("TODO.md", TODO);
      project.script(
        {
          one: [
            [
              WORKS[0]!,
              { shell: "sed -i '/two/d; s/make one/make nothing/' TODO.md" },
              { promise: "COMPLETE" },
            ],
          ],
        },
        [WORKS],
      );
      project.commit();
      const folder = join(project.root, "..");
      const death: Death = {
        step,
        when: "before",
        hooks: null,
        fine: false,
        folder,
        log: join(folder, "steps"),
      };
      const env = {
        ...project.env,
        NODE_OPTIONS: `--import ${join(import.meta.dirname, "die-at-step.ts")}`,
        DEATH: JSON.stringify(death),
      };
      const child = spawn(RALPH, ["run"], { cwd: project.root, env, stdio: "ignore" });
      const [, signal] = (await once(child, "exit")) as [unknown, unknown];
      return signal;
    };
    expect(await open(0)).toBeNull();
    const all = lines();
    const [last] = all.flatMap((line, at) => (/proposals\/1\/.*-after/.test(line) ? [at] : []));
    const steps = all.flatMap((line, at) =>
      /ralph\/(list|proposals)|TODO\.md/.test(line) && at <= (last ?? 0) + 8 ? [at + 1] : [],
    );
    expect(steps.length).toBeGreaterThan(5);
    for (const step of steps) {
      project.dispose();
      expect([all[step - 1], await open(step)]).toEqual([all[step - 1], "SIGKILL"]);
      expect([all[step - 1], (await project.ralph("run")).code]).toEqual([all[step - 1], 0]);
      expect(project.read("TODO.md")).toBe(TODO.replaceAll("[ ]", "[x]"));
      const ended = (await project.events()).filter(({ type }) => type === "iteration.ended");
      const changes = (await proposals()).map((one) => one.changes);
      // Who dies before its first agent has nothing to put back.
      if (ended.length > 2)
        expect([all[step - 1], changes]).toEqual([
          all[step - 1],
          [expect.stringContaining("removed two") as string],
        ]);
      rmSync(join(project.root, "../steps"));
    }
  });
});
