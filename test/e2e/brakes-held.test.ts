import { afterEach, describe, expect, test } from "vitest";
import {
  createProject,
  exists,
  tellToGo,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
  type Steps,
} from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const shell = (script: string, more = ""): string =>
  `agent = "own"\n${more}[agents.own]\ncommand = ["sh", "-c", ${JSON.stringify(`cat > /dev/null; ${script}`)}]\n`;

async function startsOf(): Promise<number> {
  return (await project.events()).filter(({ type }) => type === "iteration.started").length;
}

describe("a brake cannot be talked round", () => {
  test("a budget stops after an iteration whose model has no price, and names it", async () => {
    project = createProject();
    const used = { model: "new-model", input_tokens: 5, output_tokens: 5 };
    project.script({}, [[{ usage: used }, { append: { path: "f", text: "x\n" } }]]);
    project.commit();
    const run = await project.ralph("run", "--budget", "1");
    expect(run.code).toBe(5);
    expect(run.stdout).toContain('add [prices."new-model"]');
    expect(await startsOf()).toBe(1);
  });

  test("a service that is down is down for every task: none is tried at once", async () => {
    const tasks = ["a", "b", "c", "d", "e"];
    const script =
      'if [ ! -e ../tried ]; then touch ../tried; echo "Error: getaddrinfo EAI_AGAIN api.example.com" >&2; exit 1; fi; echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"';
    project = createProject({ tasks, config: shell(script) });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await startsOf()).toBe(6);
  });

  test("asking again and again with a default is no progress", async () => {
    project = createProject();
    project.script({}, [[{ decide: "Which? | default=this | deadline=1s" }]]);
    const run = await project.ralph("run", "--keep-going");
    expect(run.code).toBe(4);
    expect(await startsOf()).toBe(4);
  });

  test("an agent's own edit of the tasks opens no way for it", async () => {
    const more = "[run]\nkeep_going = false\nmax_attempts = 0\n[interventions]\nenabled = false\n";
    project = createProject({ config: shell("echo note >> TODO.md; echo hi", more) });
    expect(await project.ralph("run")).toMatchObject({ code: 4 });
    expect(await project.ralph("run")).toMatchObject({ code: 4 });
    expect(await startsOf()).toBe(3);
  });

  test.each([["--calls"], ["--max-stuck"], ["--budget"], ["--max-iterations"], ["--max-duration"]])(
    "%s with nothing after it switches nothing off",
    async (flag) => {
      project = createProject();
      for (const value of ["", " ", "1e3", "-1", "0x10"])
        expect(await project.ralph("run", flag, value)).toMatchObject({ code: 64 });
      expect(await startsOf()).toBe(0);
    },
  );

  test("max_attempts counts failures without progress, where these do not end the run before", async () => {
    project = createProject({ config: shell("exit 1", "[run]\nmax_attempts = 2\n") });
    const run = await project.ralph("run");
    expect(run.code).toBe(2);
    expect(run.stdout).toContain("2 failed iterations in a row");
  });
});

describe("a person's word is a person's", () => {
  test("an agent cannot answer, unblock or steer by command", async () => {
    project = createProject({ tasks: ["asks", "acts"] });
    const act = (words: string): Steps[number] => ({ shell: `"$RALPH_BIN" ${words} 2>> ../said; true` });
    project.script({
      asks: [[{ decide: "Drop the table? | yes | no" }]],
      acts: [[act('decide asks "yes"'), act("unblock asks"), act("steer asks hurry"), ...WORKS]],
    });
    project.commit();
    Object.assign(project.env, { RALPH_BIN: `${import.meta.dirname}/../../bin/ralph` });
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 3 });
    expect(project.read("../said").match(/an agent cannot/g)).toHaveLength(3);
  });

  test("an answer that was typed while an agent ran counts once it is saved again", async () => {
    project = createProject({ tasks: ["asks", "slow"] });
    project.script({ asks: [[{ decide: "Which?" }], WORKS], slow: [[TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run", "--keep-going");
    await until("the other works", () => exists(project, ".ralph/logs/iteration-002.log"));
    const answered = `${project.read(".ralph/decide.txt")}this one\n`;
    project.write(".ralph/decide.txt", answered);
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 3 });
    project.write(".ralph/decide.txt", answered);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("retry-blocked gives each blocked task its chance", async () => {
    project = createProject({ tasks: ["a", "b", "c"] });
    project.script({}, [[{ blocked: "no" }]]);
    project.commit();
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 2 });
    expect(await project.ralph("retry-blocked")).toMatchObject({ code: 2 });
    expect(await startsOf()).toBe(6);
  });

  test("a message for an archived list is not for the next one", async () => {
    project = createProject();
    project.script({}, [[{ blocked: "x" }]]);
    project.commit();
    await project.ralph("run");
    await project.ralph("steer", "one", "delete the old database");
    expect(await project.ralph("archive", "--label", "old")).toMatchObject({ code: 0 });
    project.write("TODO.md", "- [ ] **one**: make one\n");
    expect((await project.ralph("prompt")).stdout).not.toContain("delete the old database");
  });
});

test("a limit with just a retry-after is one", async () => {
  project = createProject({ config: shell("echo 'HTTP 429 retry-after: 200' >&2; exit 1") });
  expect(await project.ralph("run", "--no-wait")).toMatchObject({ code: 5 });
});

describe("an agent that speaks the stream of another", () => {
  const event = (more: object): string => JSON.stringify({ session_id: "s1", ...more });
  const lines = [
    event({ type: "system", subtype: "init", model: "m", cwd: "/x", tools: [] }),
    event({
      type: "assistant",
      message: { id: "1", model: "m", content: [{ type: "text", text: "<promise>COMPLETE</promise>" }] },
    }),
  ];
  const result = event({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done.\n<promise>COMPLETE</promise>",
    total_cost_usd: 0.75,
    usage: { input_tokens: 10, output_tokens: 5 },
  });

  test("is read as that one: its claim, its cost, and the budget", async () => {
    const config =
      'agent = "wrapped"\n[agents.wrapped]\nformat = "claude"\ncommand = ["sh", "../agent.sh"]\n';
    project = createProject({ tasks: ["a", "b", "c"], config });
    const said = [...lines, result].map((line) => `echo '${line}'`).join("\n");
    project.write(
      "../agent.sh",
      `cat > /dev/null\necho x > "$RALPH_TASK_ID"\n${said.replaceAll("\\n", "\\\\n")}\n`,
    );
    const run = await project.ralph("run", "--budget", "1.6");
    expect(run.code).toBe(5);
    expect(run.stdout).toMatch(/Cost: +\$1\.50/);
    expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
  });
});
