import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, WORKS, type Project, type Running, type Steps } from "./project.ts";
import { openTerminal, type Terminal, type TerminalOptions } from "./terminal.ts";

const ASKS: Steps = [{ decide: "WebSockets or polling? | sockets | polling" }];
const USES_POLLING: Steps = [{ expectPrompt: "The answer: polling" }, ...WORKS];
/** Works until the test has done its part. */
const WAITS: Steps = [
  { shell: 'for i in $(seq 1200); do test -f "$HOME/go" && break; sleep 0.05; done' },
  ...WORKS,
];

let project: Project;
let terminal: Terminal | null = null;
let running: Running | null = null;

afterEach(async () => {
  terminal?.close();
  terminal = null;
  if (running !== null) {
    running.child.kill("SIGINT");
    await running.finished;
    running = null;
  }
  expect(project.leftovers()).toEqual([]);
  project.dispose();
});

function open(args: readonly string[], options?: TerminalOptions): Terminal {
  terminal = openTerminal(project, args, options);
  return terminal;
}

function letGo(): void {
  writeFileSync(join(project.env["HOME"] ?? "", "go"), "");
}

/** A run in another terminal. */
function startRun(...args: readonly string[]): Running {
  running = project.start("run", ...args);
  return running;
}

describe("ralph monitor", () => {
  test("tells the next command where no run was ever started", async () => {
    project = createProject();
    const monitor = open(["monitor"]);
    await monitor.shows("no run yet", "No run has been started here. Start one: ralph run", "ralph tasks");
    expect(monitor.isAlternate()).toBe(true);
    monitor.type("l");
    await monitor.shows("✗ there is no task to select");
    monitor.type("x");
    await monitor.shows("✗ nothing to stop: no run is under way");
    monitor.type("?");
    await monitor.shows("Any key goes back");
    monitor.type("x");
    await monitor.shows("No run has been started here.");
    monitor.type("q");
    expect(await monitor.ended()).toMatchObject({ code: 0 });
    expect(monitor.isAlternate()).toBe(false);
  });

  test("approves work, sends it back, and pauses the run", async () => {
    project = createProject({ tasks: ["one", "two"] });
    const better = 'echo >> "$HOME/count"; test $(wc -l < "$HOME/count") -lt 2 || echo and more >> one.txt';
    project.script({ one: [[...WORKS, { shell: better }]] });
    project.commit();
    const run = startRun("--stay", "--approve");
    const monitor = open(["monitor"], { columns: 120, rows: 40 });
    await monitor.shows("Inbox: 2 wait for you", "◎ one  waits for your approval", "a approve");
    monitor.type("Tab", "b");
    await monitor.shows("Send one back: what should change?");
    monitor.type("more of it", "Enter");
    await monitor.shows("✔ one is sent back");
    await until("it waits again", () => exists(project, ".ralph/logs/iteration-003.prompt.md"));
    await monitor.shows("◎ one  waits for your approval");
    monitor.type("d");
    await monitor.shows("◎ review  make one", "What waits", "waits for your approval", "2 iterations");
    monitor.type("a");
    await monitor.shows("Approve the work of one?");
    monitor.type("y");
    await monitor.shows("✔ one is approved");
    monitor.type("p");
    await monitor.shows("· paused");
    monitor.type("p");
    await monitor.shows("· waiting for you");
    monitor.type("a", "y");
    await monitor.shows("✔ complete");
    expect(await run.finished).toMatchObject({ code: 0 });
    expect(project.read("one.txt")).toBe("one\nand more\n");
  });

  test("sends an answer to the run that waits for it, and shows how it ends", async () => {
    project = createProject({ tasks: ["asks", "slow"] });
    project.script({ asks: [ASKS, USES_POLLING], slow: [WAITS] });
    project.commit();
    const run = startRun("--keep-going");
    const monitor = open(["monitor"]);
    await monitor.shows("▸ running", "Inbox: 1 waits for you", "Slot 1: demo · slow · iteration 1/30");
    monitor.type("a");
    await monitor.shows("asks asks", "1 sockets  2 polling");
    monitor.type("2");
    await monitor.shows('Enter answers "polling"');
    monitor.type("Enter");
    await monitor.shows("✔ asks is answered: polling");
    letGo();
    await monitor.shows("✔ complete", "every task is done", "No run is under way.");
    expect(await run.finished).toMatchObject({ code: 0 });
    expect((await project.history()).map(({ task }) => task)).toEqual(["asks", "slow", "asks"]);
  });

  test("answers while no run is on, and status.json says so", async () => {
    project = createProject({ tasks: ["asks"] });
    project.script({ asks: [ASKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 3 });
    const monitor = open(["monitor"]);
    await monitor.shows("■ ended: undecided", "Go on: ralph run");
    monitor.type("Tab", "Enter");
    await monitor.shows("asks asks");
    monitor.type("server-sent", "Space", "events", "Enter");
    await monitor.shows("✔ asks is answered: server-sent events");
    expect(JSON.parse(project.read(".ralph/status.json"))).toMatchObject({ inbox: [] });
  });

  test("cancels, steers and stops; what cannot be done now says why", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [[{ hang: true }]], two: [WAITS] });
    project.commit();
    const run = startRun();
    const monitor = open(["monitor"]);
    await monitor.shows("Slot 1: demo · one");
    monitor.type("r");
    await monitor.shows("✗ the run does not wait for anything");
    monitor.type("u");
    await monitor.shows("✗ one is not blocked");
    monitor.type("c");
    await monitor.shows("Cancel one?");
    monitor.type("n");
    await until("the question is gone", () => !monitor.screen().includes("Cancel one?"));
    monitor.type("c", "y");
    await monitor.shows("Slot 1: demo · two", "■ cancelled one");
    monitor.type("f", "two", "Enter");
    await monitor.shows('only "two"');
    monitor.type("s");
    await monitor.shows("Tell the agent of two");
    monitor.type("use", "Space", "v2", "Enter");
    await monitor.shows("✔ the agent of two is told");
    monitor.type("x");
    await monitor.shows("Stop the run after the iterations under way?");
    monitor.type("y");
    await monitor.shows("✔ the run stops after the iterations under way");
    letGo();
    await monitor.shows("ended");
    await run.finished;
    expect((await project.events()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["task.cancelled", "steer.given", "stop.requested"]),
    );
  });

  test("unblocks with a reason", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [[{ blocked: "no credentials" }]] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    const monitor = open(["monitor"]);
    await monitor.shows("■ one  no credentials");
    monitor.type("u");
    await monitor.shows("Unblock one");
    monitor.type("here", "Enter");
    await monitor.shows("✔ one is no longer blocked");
    expect(await project.events()).toContainEqual(
      expect.objectContaining({ type: "task.unblocked", reason: "here" }),
    );
  });

  test("follows a transcript, searches it and goes back", async () => {
    project = createProject({ tasks: ["one"] });
    const prints = 'seq -f "line %g" 1 3000; printf "\\033[31mred\\033[0m 漢字\\n"';
    project.script({ one: [[{ shell: prints }, ...WAITS]] });
    project.commit();
    startRun();
    const monitor = open(["monitor"]);
    await monitor.shows("Slot 1: demo · one");
    monitor.type("l");
    await monitor.shows("one · iteration 1 · follows the end", "line 3000", "red 漢字");
    monitor.type("/", "line", "Space", "777", "Enter");
    await monitor.shows("line 774", "line 777");
    monitor.type("g");
    await monitor.shows("iteration 1 · 0 %", "line 1\n");
    monitor.type("/", "nowhere", "Enter");
    await monitor.shows('✗ "nowhere" is not in this transcript');
    monitor.type("G");
    await monitor.shows("follows the end", "line 3000");
    monitor.type("q");
    await monitor.shows("Slot 1: demo · one");
  });

  test("fits into every window while it is resized", async () => {
    project = createProject({ tasks: ["one", "漢字-👩‍👩‍👧", "three"] });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const monitor = open(["monitor"]);
    await monitor.shows("Board: Todo 0 · Build 0 · Blocked 0 · Done 3");
    monitor.resize(120, 40);
    await monitor.shows("Todo (0)", "Done (3)", "? help  q quit");
    monitor.resize(50, 13);
    const small = await monitor.shows("▶ Board: Todo 0 · Build 0 · Blocked 0 · Done 3", "q quit");
    expect(small.split("\n").filter((line) => line.includes("Board"))).toHaveLength(1);
    monitor.resize(30, 10);
    await monitor.shows("This window is too small");
    monitor.resize(80, 24);
    const again = await monitor.shows("Board: Todo 0", "? help  q quit", "✔ three");
    expect(again.split("\n").filter((line) => line.includes("✔ complete"))).toHaveLength(1);
    expect(again).not.toContain("too small");
  });

  test("uses no colours when they are not wanted", async () => {
    project = createProject();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const coloured = open(["monitor"]);
    await coloured.shows("✔ complete");
    expect(coloured.coloured()).toContain("\x1b[32m");
    coloured.close();
    const plain = open(["monitor"], { env: { NO_COLOR: "1" } });
    await plain.shows("✔ complete");
    expect(plain.coloured()).not.toContain("\x1b[");
  });
});

describe("the terminal", () => {
  test.each([
    ["Ctrl-C", (monitor: Terminal) => monitor.type("C-c"), 130, ""],
    [
      "a bug of ours",
      (monitor: Terminal) => process.kill(monitor.pid, "SIGUSR2"),
      70,
      "internal error: planted",
    ],
  ])("is given back after %s", async (_, end, code, said) => {
    project = createProject();
    const crash = "process.on('SIGUSR2',()=>{throw new Error('planted')})";
    const monitor = open(["monitor"], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${crash.replaceAll(" ", "%20")}` },
    });
    await monitor.shows("no run yet");
    end(monitor);
    const ended = await monitor.ended();
    expect(ended.code).toBe(code);
    expect(ended.screen).toContain(said);
    expect(ended.screen).not.toContain("no run yet");
    expect(monitor.isAlternate()).toBe(false);
  });

  test("is needed", async () => {
    project = createProject();
    const refused = await project.ralph("monitor");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain("the monitor needs a terminal");
    expect(await project.ralph("run", "--monitor")).toMatchObject({ code: 64 });
    const dumb = open(["monitor"], { env: { TERM: "dumb" } });
    const { code, screen } = await dumb.ended();
    expect(code).toBe(64);
    expect(screen).toContain("TERM is dumb");
  });

  test("of an agent is no place for it", async () => {
    project = createProject();
    const env = { RALPH_MARKER: "m", RALPH_DIR: join(project.root, ".ralph") };
    const { code, screen } = await open(["monitor"], { env }).ended();
    expect(code).toBe(64);
    expect(screen).toContain("an agent cannot use the monitor");
  });
});

describe("ralph run --monitor", () => {
  test("shows the run to its end, then prints the summary with its exit code", async () => {
    project = createProject({ tasks: ["one", "asks"] });
    project.script({ asks: [ASKS] }, [WORKS]);
    project.commit();
    const monitor = open(["run", "--monitor", "--keep-going"]);
    await monitor.shows("■ ended: undecided", "The run has ended (exit code 3)");
    monitor.type("Enter");
    const { code, screen } = await monitor.ended();
    expect(code).toBe(3);
    expect(screen).toContain("DECISION NEEDED (code 3)");
    const [output = ""] = outputs();
    expect(screen).toContain(`what it printed is in .ralph/logs/${output}`);
    expect(project.read(join(".ralph", "logs", output))).toContain("✔ accepted");
  });

  test("leaves the run running, or stops it", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [WAITS] });
    project.commit();
    const first = open(["run", "--monitor"]);
    await first.shows("Slot 1: demo · one");
    first.type("q");
    await first.shows("The run is still on");
    first.type("l");
    const left = await first.ended();
    expect(left.code).toBe(0);
    expect(left.screen).toContain("the run goes on");
    first.close();
    const again = open(["run", "--monitor"]);
    const refused = await again.ended();
    expect(refused.code).toBe(64);
    expect(outputs()).toHaveLength(1);
    again.close();
    const second = open(["monitor"]);
    await second.shows("Slot 1: demo · one");
    letGo();
    await second.shows("✔ complete");
  });

  test("does not take the run with it when it dies", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [WAITS] });
    project.commit();
    const monitor = open(["run", "--monitor"]);
    await monitor.shows("Slot 1: demo · one");
    process.kill(monitor.pid, "SIGKILL");
    expect(await monitor.ended()).toMatchObject({ code: 137 });
    monitor.close();
    letGo();
    await open(["monitor"]).shows("✔ complete");
  });

  test("stops the run at once when that is wanted", async () => {
    project = createProject({ tasks: ["one"] });
    project.script({ one: [[{ hang: true }]] });
    project.commit();
    const monitor = open(["run", "--monitor"]);
    await monitor.shows("Slot 1: demo · one");
    monitor.type("q");
    await monitor.shows("The run is still on");
    monitor.type("n");
    await monitor.shows("The run has ended (exit code 130)");
    monitor.type("q");
    expect(await monitor.ended()).toMatchObject({ code: 130 });
  });

  test("refuses on the plain screen what cannot be run", async () => {
    project = createProject();
    project.write("TODO.md", "nothing here\n");
    const { code, screen } = await open(["run", "--monitor"]).ended();
    expect(code).toBe(64);
    expect(screen).toContain("ralph: ");
    expect(outputs()).toEqual([]);
  });
});

function outputs(): readonly string[] {
  try {
    return readdirSync(join(project.root, ".ralph", "logs")).filter((name) => name.startsWith("run-"));
  } catch {
    return []; // no run has made the folder
  }
}
