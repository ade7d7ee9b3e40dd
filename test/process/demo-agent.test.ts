import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const DEMO_AGENT = join(import.meta.dirname, "../../src/demo-agent.ts");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-demo-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Outcome {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(script: unknown, env: Record<string, string> = {}, prompt = "the prompt"): Outcome {
  const path = join(folder, "script.json");
  if (script !== null) writeFileSync(path, typeof script === "string" ? script : JSON.stringify(script));
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [DEMO_AGENT], {
    cwd: folder,
    input: prompt,
    encoding: "utf8",
    env: {
      ...process.env,
      ...(script !== null && { RALPH_DEMO_SCRIPT: path }),
      RALPH_TASK_ID: "one",
      ...env,
    },
    maxBuffer: 10_000_000,
  });
  return { status, signal, stdout, stderr };
}

const does = (...steps: unknown[]): unknown => ({ default: [steps] });
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("without a script", () => {
  test("it writes down the task's title and promises completion", () => {
    const prompt = "- **Title**: Log in\n\nprint\n<promise>ALL DONE</promise>\n";
    const { status, stdout } = run(null, {}, prompt);
    expect(status).toBe(0);
    expect(stdout).toBe("I wrote the task into DEMO.md.\n<promise>ALL DONE</promise>\n");
    expect(read("DEMO.md")).toBe("- Log in\n");
    run(null, {}, prompt);
    expect(read("DEMO.md")).toBe("- Log in\n- Log in\n");
  });

  test("it makes do with any prompt", () => {
    expect(run(null, {}, "").stdout).toContain("<promise>COMPLETE</promise>");
    expect(read("DEMO.md")).toBe("- one\n");
  });
});

describe("with a script", () => {
  test("it does what is meant for the task and its iteration", () => {
    const script = {
      tasks: { one: [[{ say: "first" }], [{ say: "later" }]] },
      default: [[{ say: "other" }]],
    };
    expect(run(script, { RALPH_ITERATION: "1" }).stdout).toBe("first\n");
    expect(run(script, { RALPH_ITERATION: "5" }).stdout).toBe("later\n");
    expect(run(script, { RALPH_TASK_ID: "two" }).stdout).toBe("other\n");
  });

  test("it changes files", () => {
    const write = { path: "deep/a.txt", text: "one\n" };
    run(
      does(
        { write },
        { append: { ...write, text: "two\n" } },
        { write: { path: "b", text: "" } },
        { remove: "b" },
      ),
    );
    expect(read("deep/a.txt")).toBe("one\ntwo\n");
    expect(existsSync(join(folder, "b"))).toBe(false);
  });

  test("it runs commands and commits", () => {
    spawnSync("git", ["init", "--quiet"], { cwd: folder });
    const { status } = run(does({ shell: "echo hello > greeting" }, { commit: "say hello" }));
    expect(status).toBe(0);
    const log = spawnSync("git", ["log", "--format=%an: %s", "--name-only"], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(log.stdout).toBe("Demo Agent: say hello\n\ngreeting\nscript.json\n");
    expect(run(does({ shell: "exit 4" }, { say: "never" }))).toMatchObject({ status: 4, stdout: "" });
  });

  test("it signals", () => {
    const { stdout } = run(
      does({ garbage: 3 }, { promise: "COMPLETE" }, { blocked: "why" }, { decide: "a | b" }),
    );
    expect(stdout).toMatch(
      /\n<promise>COMPLETE<\/promise>\n<promise>BLOCKED:why<\/promise>\n<promise>DECIDE:a \| b<\/promise>\n$/,
    );
  });

  test("it prints as much as it is told", () => {
    expect(run(does({ flood: 1_234_567 })).stdout.length).toBe(1_234_567);
    expect(
      run(does({ longLine: 200_000 }))
        .stdout.trimEnd()
        .split("\n"),
    ).toHaveLength(1);
  });

  test("it reads its prompt", () => {
    expect(run(does({ echoPrompt: true })).stdout).toBe("the prompt\n");
    expect(run(does({ expectPrompt: "prompt" }, { say: "ok" })).stdout).toBe("ok\n");
    const missed = run(does({ expectPrompt: "something else" }, { say: "ok" }));
    expect(missed).toMatchObject({
      status: 3,
      stdout: "",
      stderr: 'demo agent: the prompt lacks "something else"\n',
    });
  });

  test("it ends badly", () => {
    expect(run(does({ say: "last words" }, { crash: 9 }))).toMatchObject({
      status: 9,
      stdout: "last words\n",
    });
    expect(run(does({ killSelf: "SIGKILL" }))).toMatchObject({ status: null, signal: "SIGKILL" });
  });

  test("it waits", () => {
    const started = performance.now();
    run(does({ sleep: 300 }));
    expect(performance.now() - started).toBeGreaterThan(300);
  });
});

describe("a script that cannot be used", () => {
  test.each<[string, unknown, RegExp]>([
    [
      "is explained in one line",
      does({ sing: "la" }),
      /^demo agent: cannot use the script .*script\.json: default\[0\]\[0\] has the unknown step "sing".*\n$/,
    ],
    ["may be no JSON", "{", /^demo agent: cannot use the script .*: it is not JSON: .*\n$/],
  ])("%s", (_, script, message) => {
    const { status, stdout, stderr } = run(script);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
  });

  test("may be missing", () => {
    const { status, stderr } = run(null, { RALPH_DEMO_SCRIPT: "/no/such/script.json" });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^demo agent: cannot use the script \/no\/such\/script\.json: ENOENT/);
  });
});
