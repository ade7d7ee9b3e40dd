import { afterEach, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

function agent(script: string): void {
  project = createProject({
    config: 'agent = "stub"\n[agents.stub]\ncommand = ["sh", ".ralph/agent.sh"]\n',
  });
  project.write(
    ".ralph/agent.sh",
    `cat > "$RALPH_DIR/../.git/prompt-$RALPH_ITERATION_NUMBER"\n${script}\necho '<promise>COMPLETE</promise>'\n`,
  );
  project.commit("agent");
}

test("an agent that works in the user's checkout instead of its own is noticed, and told", async () => {
  agent(
    `if [ $RALPH_ITERATION_NUMBER = 1 ]; then echo astray > "$RALPH_DIR/../astray.txt"; else echo one > one.txt; fi`,
  );
  const run = await project.ralph("run", "--worktree", "-n", "2");
  expect(run.stdout).toContain("your checkout changed while one ran: astray.txt");
  expect(await project.events()).toContainEqual(
    expect.objectContaining({ type: "checkout.changed", task: "one", head: null, paths: ["astray.txt"] }),
  );
  expect(project.read(".git/prompt-2")).toContain("somebody changed the operator's own checkout: astray.txt");
  // Nobody but a person knows whose it is.
  expect(project.read("astray.txt")).toBe("astray\n");
});

test("one that commits there is noticed, too", async () => {
  agent(
    `if [ $RALPH_ITERATION_NUMBER = 1 ]; then cd "$RALPH_DIR/.."; unset GIT_DIR; echo astray > astray.txt; git add astray.txt; git commit -qm astray; else echo one > one.txt; fi`,
  );
  const run = await project.ralph("run", "--worktree", "-n", "2");
  expect(run.stdout).toMatch(/your checkout changed while one ran: HEAD is at [0-9a-f]{7} now/);
});

test("merges of other lanes are not taken for it", async () => {
  agent(`sleep 0.$RALPH_ITERATION_NUMBER; echo done > "$RALPH_TASK_ID.txt"`);
  project.write("TODO.md", ["a", "b", "c", "d"].map((id) => `- [ ] **${id}** do ${id}\n`).join(""));
  project.commit("more");
  expect(await project.ralph("run", "--parallel", "3")).toMatchObject({ code: 0 });
  expect((await project.events()).filter(({ type }) => type === "checkout.changed")).toEqual([]);
});
