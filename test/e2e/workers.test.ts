import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { until, WORKS, type Running } from "./project.ts";
import { createTeam, onBase, type Team } from "./team.ts";

let team: Team;
let started: Running[];
beforeEach(() => {
  started = [];
});
afterEach(async () => {
  for (const { child } of started) child.kill("SIGKILL");
  await team.dispose();
});

function begin(running: Running): Running {
  started.push(running);
  return running;
}

interface Status {
  readonly run: { readonly status: string } | null;
  readonly tasks: readonly { readonly id: string; readonly status: string }[];
}

test(
  "tasks that one machine submits are done by others, once each, and merged to the remote's base",
  { timeout: 120_000 },
  async () => {
    team = await createTeam({ tasks: ["a", "b", "c", "d", "e", "f"], lease: "10s" });
    const GITHUB_STEP_SUMMARY = join(team.remote, "..", "summary.md");
    const office = team.machine("office", { env: { GITHUB_STEP_SUMMARY } });
    const [left, right] = [team.machine("left"), team.machine("right")];
    const first = await office.ralph("submit");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain("TODO.md: submitted · 6 tasks, 0 done");
    const workers = [begin(left.start("worker", "--lanes", "2")), begin(right.start("worker"))];
    const watched = await office.ralph("submit", "--watch");
    expect(watched).toMatchObject({ code: 0 });
    expect(readFileSync(GITHUB_STEP_SUMMARY, "utf8")).toContain("| f | make f | done |");
    for (const id of ["a", "b", "c", "d", "e", "f"]) expect(onBase(team, `${id}.txt`)).toBe(id);
    expect(onBase(team, "TODO.md")).not.toContain("[ ]");
    const events = await team.events();
    const completed = events.filter(({ type }) => type === "task.completed").map(({ task }) => String(task));
    expect(completed.toSorted((a, b) => a.localeCompare(b))).toEqual(["a", "b", "c", "d", "e", "f"]);
    const status = JSON.parse((await office.ralph("status", "--json")).stdout) as Status;
    expect(status.tasks.map((task) => task.status)).toEqual(Array.from({ length: 6 }, () => "done"));
    expect((await office.ralph("submit")).stdout).toContain("nothing new");
    await until("all worktrees are gone", () =>
      [left, right].every((machine) => machine.git("worktree", "list").split("\n").length === 1),
    );
    expect(team.git("for-each-ref", "refs/heads").split("\n")).toHaveLength(1);
    for (const { child } of workers) child.kill("SIGINT");
    for (const { finished } of workers) expect((await finished).code).toBe(130);
    expect(team.leftovers()).toEqual([]);
  },
);

test(
  "a worker works from a bare clone as well, and again when it is started again, its agents in a sandbox",
  { timeout: 120_000 },
  async () => {
    team = await createTeam({ tasks: ["a"], lease: "10s" });
    const office = team.machine("office");
    const server = team.machine("server", { isBare: true });
    expect(await office.ralph("submit")).toMatchObject({ code: 0 });
    expect(await server.ralph("worker", "--drain", "--sandbox")).toMatchObject({ code: 0 });
    expect(onBase(team, "a.txt")).toBe("a");
    const homes = `${server.env["HOME"]}/.local/state/ralph/sandbox/*/demo`;
    expect(globSync(homes)).toHaveLength(1);
    expect(await server.ralph("worker", "--drain", "--sandbox")).toMatchObject({ code: 0 });
  },
);

test("an agent that a killed worker left behind is ended when a worker starts again in its clone, whatever the log says", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const told = join(folder, "told");
  // Before it has read its prompt, it would end with the worker.
  team = await createTeam({ tasks: ["a"], others: [[{ shell: `touch ${told}` }, { hang: true }]] });
  const [office, server] = [team.machine("office"), team.machine("server")];
  expect(await office.ralph("submit")).toMatchObject({ code: 0 });
  const worker = begin(server.start("worker"));
  await until("the agent works", () => existsSync(told));
  worker.child.kill("SIGKILL");
  await worker.finished;
  await until(
    "nobody is taken to work any more",
    async () => (await office.ralph("reset", "--all", "--yes")).code === 0,
  );
  expect(team.leftovers(0)).not.toEqual([]);
  expect(await server.ralph("worker", "--drain")).toMatchObject({ code: 0 });
  expect(team.leftovers()).toEqual([]);
});

test(
  "a worker that was started first marks what it did in the list that is submitted, and in the next list",
  { timeout: 120_000 },
  async () => {
    const works = [{ shell: 'echo more >> "$RALPH_TASK_ID.txt"' }, { promise: "COMPLETE" }];
    team = await createTeam({ tasks: ["a", "b"], others: [works], lease: "10s" });
    const office = team.machine("office");
    begin(team.machine("server").start("worker"));
    await until("the worker is here", async () =>
      (await office.ralph("status")).stdout.includes("waits for tasks"),
    );
    expect(await office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
    expect(onBase(team, "TODO.md")).not.toContain("[ ]");
    office.git("pull", "--quiet");
    writeFileSync(join(office.root, "other.md"), "- [ ] **a**: make a again\n- [ ] **c**: make c\n");
    office.git("add", "other.md");
    office.git("commit", "--quiet", "-m", "another list");
    office.git("push", "--quiet");
    expect(await office.ralph("submit", "--source", "other.md", "--watch")).toMatchObject({ code: 0 });
    expect(onBase(team, "other.md")).toBe("- [x] **a**: make a again\n- [x] **c**: make c");
    expect(onBase(team, "TODO.md")).not.toContain("[ ]");
  },
);

/** Which processes of the team it finds, and the address of the database if it is in their environment. */
const LOOKS_AROUND = String.raw`for each in /proc/[0-9]*; do
  tr "\0" "\n" < $each/environ | grep -qx "RALPH_TEST_PROJECT=$RALPH_TEST_PROJECT" || continue
  tr "\0" " " < $each/cmdline; echo; tr "\0" "\n" < $each/environ | grep "^RALPH_QUEUE_URL=."
done > "$RALPH_TEST_PROJECT/found" 2>/dev/null; true`;

test(
  "a worker says what helps when a lease is in its way, what it waits for, and shows its agent no password",
  { timeout: 120_000 },
  async () => {
    team = await createTeam({
      tasks: ["a", "b", "c"],
      others: [[{ shell: LOOKS_AROUND }, ...WORKS]],
      config: "[limits]\ncalls_per_hour = 1",
      lease: "10s",
    });
    const [office, server] = [team.machine("office"), team.machine("server")];
    expect(await office.ralph("submit")).toMatchObject({ code: 0 });
    const tree = office.git("rev-parse", "HEAD^{tree}");
    const future = office.git("commit-tree", tree, "-m", "ralph: a\n\nRalph-Lease: 9007199254740000");
    office.git("push", "--quiet", "origin", `${future}:refs/ralph/leases/a`);
    const worker = begin(server.start("worker"));
    const refused =
      /a: origin has lease 9007199254740000 for a, .*: (git push origin :refs\/ralph\/leases\/a)\n/;
    await until("it tried", () => refused.test(worker.stderr()));
    const [, command = ""] = refused.exec(worker.stderr()) ?? [];
    office.git(...command.split(" ").slice(1));
    await until("it waits", () =>
      /waiting until .*: the calls of this hour are used up/.test(worker.stderr()),
    );
    worker.child.kill("SIGINT");
    expect(await worker.finished).toMatchObject({ code: 130 });
    expect(onBase(team, "a.txt")).toBe("a");
    const found = readFileSync(join(team.remote, "..", "found"), "utf8");
    expect(found).toContain("start.cjs worker");
    expect(found).not.toMatch(/^RALPH_QUEUE_URL=/m);
  },
);

test(
  "branches that somebody moves or deletes on the remote change nothing of what is merged, and hold up no other task",
  { timeout: 120_000 },
  async () => {
    team = await createTeam({ tasks: ["a", "b", "c"], lease: "10s" });
    const [office, left, right] = [team.machine("office"), team.machine("left"), team.machine("right")];
    expect(await office.ralph("submit")).toMatchObject({ code: 0 });
    expect(await left.ralph("worker", "--drain", "--no-merge")).toMatchObject({ code: 0 });
    writeFileSync(join(office.root, "stolen.txt"), "stolen\n");
    office.git("add", "stolen.txt");
    office.git("commit", "--quiet", "-m", "stolen");
    office.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/ralph/a", ":refs/heads/ralph/b");
    const third = (await team.events()).find(({ type, task }) => type === "task.completed" && task === "c");
    const kept = `refs/ralph/accepted/${String(third?.["run"])}/${String(third?.["iteration"])}`;
    office.git("push", "--quiet", "origin", ":refs/heads/ralph/c", `:${kept}`);

    const merging = await right.ralph("worker", "--drain");
    expect(merging.stdout).toContain("ralph/a was moved away from the accepted commit");
    expect(merging.stdout).toContain("somebody deleted ralph/b");
    expect([onBase(team, "a.txt"), onBase(team, "b.txt"), onBase(team, "c.txt")]).toEqual(["a", "b", null]);
    expect(onBase(team, "stolen.txt")).toBeNull();
    expect(team.git("for-each-ref", "--format=%(contents:subject)", "refs/ralph/merged")).toContain("stolen");

    const { stdout } = await office.ralph("inbox");
    expect(stdout).toContain(
      "its work waits on ralph/c: origin no longer has the accepted commit of ralph/c",
    );
    const [, command = ""] = /: (git push origin \S+)/.exec(stdout) ?? [];
    left.git(...command.replace(/,$/, "").split(" ").slice(1));
    expect((await office.ralph("submit")).stdout).toContain("submitted");
    expect(await right.ralph("worker", "--drain")).toMatchObject({ code: 0 });
    expect(onBase(team, "c.txt")).toBe("c");
    expect(onBase(team, "TODO.md")).not.toContain("[ ]");
  },
);
