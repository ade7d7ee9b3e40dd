import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProject, tellToGo, until, type Project } from "./project.ts";

const RECORDING = join(import.meta.dirname, "..", "recordings", "claude", "success.jsonl");
const SECRET = "s3ntinel-value-0123456789";

let project: Project;

/** A program that prints such a stream, and works. */
function withStream(
  stream: string,
  script = 'cat stream.jsonl; echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"',
): void {
  project = createProject({
    tasks: ["one", "two"],
    env: { TZ: "UTC", MY_API_KEY: SECRET },
    config: 'agent = "stub"\n[agents.stub]\ncommand = ["sh", "agent.sh"]\nformat = "claude"\n',
  });
  project.write("stream.jsonl", stream);
  project.write("agent.sh", `cat > prompt.md\nrm prompt.md\n${script}\n`);
  project.commit("a stub");
}

beforeEach(() => withStream(readFileSync(RECORDING, "utf8")));
afterEach(() => project.dispose());

const FOLDED = `          · Model claude-opus-5-5
02:40:05  I will create the file.
02:40:05  → Write NOTE.md  +1 −0
              +hello from the scripted model
02:40:05  Now I commit.
02:40:06  → Run git add -A && git commit -q -m "feat: add NOTE.md" && git log --oneline | head -1  a52f4b0 feat: add NOTE.md
02:40:06  All work is finished.
`;

describe("ralph logs", () => {
  test("shows words, calls and diffs, and unfolds them with --full", async () => {
    await project.ralph("run");
    const { stdout } = await project.ralph("logs", "1");
    expect(stdout.slice(0, FOLDED.length)).toBe(FOLDED);
    expect(stdout).not.toContain("session_id");
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/· Ended · 3,900 tokens in.* \$0\.02$/);
    const full = await project.ralph("logs", "1", "--full");
    expect(full.stdout).toContain("              timeout: 600000\n");
    expect((await project.ralph("logs")).stdout.slice(0, FOLDED.length)).toBe(FOLDED);
  });

  test("--raw prints the bytes of the file", async () => {
    await project.ralph("run");
    const { stdout } = await project.ralph("logs", "1", "--raw");
    expect(stdout).toBe(project.read(".ralph/logs/iteration-001.log"));
  });

  test("--json prints each entry as a line", async () => {
    await project.ralph("run");
    const { stdout } = await project.ralph("logs", "2", "--json");
    const entries = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.map(({ kind }) => kind)).toEqual(["note", "text", "edit", "text", "tool", "text", "note"]);
    expect(entries[2]).toEqual({
      iteration: 2,
      at: "2026-11-15T02:40:05.361Z",
      kind: "edit",
      title: "Write NOTE.md",
      state: "good",
      brief: "+1 −0",
      result: expect.stringContaining("File created successfully") as string,
      diff: "+hello from the scripted model",
    });
    expect(entries.at(-1)).toMatchObject({ cost_usd: 0.01896 });
  });

  test("--search finds entries in all iterations, or in one", async () => {
    await project.ralph("run");
    const all = await project.ralph("logs", "--search", "A52F4B0");
    const line = FOLDED.split("\n")[5];
    expect(all.stdout).toBe(`Iteration 1 · one\n${line}\nIteration 2 · two\n${line}\n`);
    expect(all.stderr).toContain("2 entries in 2 iterations");
    expect((await project.ralph("logs", "2", "--search", "scripted model")).stdout).toBe(
      "02:40:05  → Write NOTE.md  +1 −0\n              +hello from the scripted model\n",
    );
    // The keys of events are nobody's words.
    const none = await project.ralph("logs", "--search", "session_id");
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("Nothing found in 2 iterations.");
    const json = await project.ralph("logs", "--search", "now i commit", "--json");
    expect(
      json.stdout
        .trim()
        .split("\n")
        .map((one) => (JSON.parse(one) as { iteration: number }).iteration),
    ).toEqual([1, 2]);
  });

  test.each([
    [["--raw", "--json"], "--raw does not go with --json"],
    [["--raw", "--full"], "--raw does not go with --full"],
    [["--search", "x", "--follow"], "--search does not go with --follow"],
    [["--search", " "], "there are no words to search for"],
  ])("%j is refused", async (flags, why) => {
    const { code, stdout, stderr } = await project.ralph("logs", ...flags);
    expect(code).toBe(64);
    expect(stdout + stderr).toContain(why);
  });

  test("--follow shows a call as soon as it begins, and completes its line", async () => {
    project.dispose();
    const lines = readFileSync(RECORDING, "utf8").split("\n");
    const untilRun = lines.findIndex((line) => line.includes('"name":"Bash"')) + 1;
    withStream(
      lines.join("\n"),
      `head -${untilRun} stream.jsonl; until test -e "$HOME/go" || ! test -d "$HOME"; do sleep 0.05; done; tail -n +${untilRun + 1} stream.jsonl; echo x > "$RALPH_TASK_ID.txt"`,
    );
    const running = project.start("run", "--task", "one");
    await until("it is working", () => {
      try {
        return project.read(".ralph/logs/iteration-001.log").includes('"name":"Bash"');
      } catch {
        return false; // not yet there
      }
    });
    const following = project.start("logs", "--follow");
    await until("the call is shown", () => following.stdout().includes("→ Run git add -A"));
    expect(following.stdout()).not.toContain("a52f4b0");
    tellToGo(project);
    const { stdout } = await following.finished;
    expect(stdout.slice(0, FOLDED.length)).toBe(FOLDED);
    await running.finished;
  });

  test("nothing that an agent says moves the terminal or tells a secret", async () => {
    project.dispose();
    const hostile = `\u001b[2J\u001b]0;title\u0007 ${SECRET} end`;
    const content = [
      { type: "text", text: hostile },
      { type: "tool_use", id: "1", name: "Bash", input: { command: hostile, [hostile]: hostile } },
    ];
    const say = (more: object): string => `${JSON.stringify({ ...more, session_id: "s" })}\n`;
    withStream(
      say({ type: "system", subtype: "init" }) +
        say({ type: "assistant", message: { id: "m", content } }) +
        say({
          type: "user",
          message: { content: [{ type: "tool_result", tool_use_id: "1", content: hostile }] },
        }),
    );
    await project.ralph("run", "--task", "one", "--max-iterations", "1");
    for (const flags of [[], ["--full"], ["--json"], ["--search", "end"]]) {
      const { stdout } = await project.ralph("logs", "1", ...flags);
      expect(stdout).toContain("end");
      // oxlint-disable-next-line no-control-regex -- escapes are what it is about
      expect(stdout).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]|s3ntinel/);
    }
  });
});
