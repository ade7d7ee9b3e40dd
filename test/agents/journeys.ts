import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { jsonLines, until } from "../e2e/project.ts";
import { agentProject, type AgentProject, type AgentProjectOptions } from "./agent-project.ts";
import type { AgentProgram } from "./agent-settings.ts";
import { partsOf, type Way, whyNot } from "./matrix.ts";
import { ODD_MODELS } from "./model-server/odd-models.ts";
import type { NamedModel } from "./model-server/name-model.ts";
import type { ModelServer } from "./model-server/start-model-server.ts";
import { ACP_COMMANDS } from "./real-agent.ts";

const UNDECIDED =
  /Stop hook feedback:\\ntasks\.json is not as it should be:\\n- US-1: reviewStatus is still/g;

/** One thing that a user lives through with a real agent, from the start of the run to the checks afterwards. */
export interface Journey {
  readonly scenario: string;
  readonly settings?: string;
  readonly env?: Partial<Record<AgentProgram, Readonly<Record<string, string>>>>;
  readonly isSetUp?: boolean;
  run(project: AgentProject, way: Way): Promise<void>;
}

export async function travel(server: ModelServer, journey: Journey, way: Way): Promise<void> {
  const { scenario, settings, env, isSetUp = false } = journey;
  const options: AgentProjectOptions = {
    way,
    scenario,
    isSetUp,
    ...(settings !== undefined && { settings }),
  };
  const project = await agentProject(server, { ...options, env: env?.[partsOf(way).agent] ?? {} });
  try {
    await journey.run(project, way);
    expect(project.leftovers()).toEqual([]);
  } finally {
    project.dispose();
  }
}

/** The same in a sandbox, where it should be no different. */
export function inSandbox(journey: Journey): Journey {
  const programs = Object.keys(ACP_COMMANDS) as AgentProgram[];
  const env = programs.map((agent) => [agent, { ...journey.env?.[agent], RALPH_SANDBOX_KIND: "bubblewrap" }]);
  return { ...journey, env: Object.fromEntries(env) as NonNullable<Journey["env"]> };
}

/** The same in a sandbox that lets it reach its model, through the operator's own proxy, and nobody else. */
export function behindList(journey: Journey, { proxy, host }: NamedModel): Journey {
  const { env = {}, settings = "" } = inSandbox(journey);
  const proxied = Object.entries(env).map(([agent, own]) => [
    agent,
    { ...own, HTTP_PROXY: proxy, HTTPS_PROXY: proxy },
  ]);
  return {
    ...journey,
    env: Object.fromEntries(proxied) as NonNullable<Journey["env"]>,
    settings: `${settings}\n[sandbox]\nnetwork = ["${host}"]`,
  };
}

export const JOURNEYS = {
  "does a task, and what it used is recorded": {
    scenario: "success",
    async run(project, way) {
      await succeeds(project);
      expect(project.committed()).toContain("hello.txt");
      const [iteration, ...more] = await project.iterations();
      expect(more).toEqual([]);
      expect(iteration).toMatchObject({ verdict: "accepted", report: { failure: null, unknown_events: 0 } });
      const { usage, session_id, tool_calls, files_written } = iteration?.report ?? {};
      expect(usage?.input_tokens).toBeGreaterThan(100);
      expect(usage?.output_tokens).toBeGreaterThan(10);
      expect(session_id).toEqual(expect.any(String));
      expect(tool_calls).toBeGreaterThanOrEqual(2);
      expect(files_written).toContain("hello.txt");
      if (whyNot("cost", way) === null) expect(usage?.cost_usd).toBeGreaterThan(0);
      else expect(usage?.cost_usd).toBeNull();
    },
  },
  "lies, is not believed, and then does it": {
    scenario: "lie-then-honest",
    async run(project) {
      await succeeds(project);
      const verdicts = (await project.iterations()).map(({ verdict }) => verdict);
      expect(verdicts).toEqual(["rejected", "accepted"]);
      expect(project.committed()).toContain("hello.txt");
    },
  },
  "comes to its usage limit, which is no fault of the task": {
    scenario: "errusage",
    env: { claude: { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "dummy" } },
    async run(project, way) {
      const { code } = await project.ralph("run", "--no-wait");
      const [{ report } = { report: null }] = await project.iterations();
      expect(report?.failure).toMatchObject({ class: "limit" });
      if (["claude", "codex"].includes(way))
        expect(Date.parse(report?.failure?.resets_at ?? "")).toBeGreaterThan(Date.now());
      // It tries again by itself and does not say when the limit ends.
      if (way === "opencode") expect(report?.failure?.resets_at).toBeNull();
      expect(code).toBe(5);
    },
  },
  "has no credit left, and says how to get some": {
    scenario: "no-credit",
    async run(project) {
      const { code, stdout } = await project.ralph("run");
      expect(code).toBe(5);
      expect(stdout).toMatch(/has no credit left: .*\(.*credit/s);
      const [{ report } = { report: null }, ...more] = await project.iterations();
      expect(more).toEqual([]);
      expect(report?.failure).toMatchObject({ class: "limit", kind: "credit" });
    },
  },
  "asks for a model that its service does not know": {
    scenario: "unknown-model",
    async run(project) {
      const { code, stdout } = await project.ralph("run");
      expect(code).toBe(64);
      expect(stdout).toMatch(/misconfigured: .+ cannot use (?:its model|the model "[^"]+"): /);
      expect(await project.iterations()).toHaveLength(1);
    },
  },
  "overflows its context, and begins anew": {
    scenario: "too-long",
    settings: 'session = "resume"',
    async run(project) {
      expect((await project.ralph("run", "-n", "2", "--timeout", "90s")).code).not.toBe(0);
      const [first, second] = await project.iterations();
      expect(first?.report.failure).toMatchObject({ class: "agent", kind: "overflow" });
      expect(second?.report.session_id).not.toBe(first?.report.session_id);
    },
  },
  "is cut off at the limit of an answer, and told to do less at a time": {
    scenario: "cut-off",
    async run(project) {
      expect((await project.ralph("run", "-n", "2", "--timeout", "90s")).code).not.toBe(0);
      const [first] = await project.iterations();
      expect(first?.report.failure).toMatchObject({ class: "agent", kind: "length" });
      expect(project.read(".ralph/logs/iteration-002.prompt.md")).toContain("output limit");
    },
  },
  "passes what is left of a budget, and is stopped": {
    scenario: "spends",
    settings: `[limits]
budget_usd = 0.02
[prices.default]
input_per_mtok = 10
output_per_mtok = 10
cache_read_per_mtok = 10`,
    async run(project) {
      expect((await project.ralph("run", "--timeout", "90s")).code).not.toBe(0);
      const [first, ...more] = await project.iterations();
      expect(more).toEqual([]);
      expect(first?.report.failure).toMatchObject({ class: "agent", kind: "budget" });
      expect(first?.report.usage.cost_usd).toBeLessThan(0.06);
    },
  },
  "ends without a word": {
    scenario: "silent",
    async run(project) {
      expect((await project.ralph("run", "-n", "1", "--timeout", "90s")).code).not.toBe(0);
      const [iteration] = await project.iterations();
      expect(iteration).toMatchObject({ verdict: "failed", report: { failure: { kind: "empty" } } });
    },
  },
  "spells a secret piece by piece, and the transcript has none of it": {
    scenario: "spells",
    async run(project) {
      expect((await project.ralph("run", "-n", "1", "--timeout", "90s")).code).not.toBe(0);
      const transcript = project.read(".ralph/logs/iteration-001.log");
      expect(transcript).toContain("[redacted]");
      expect(transcript).not.toMatch(/ghp_|a1B2c3D4/);
    },
  },
  "reads five megabytes, and does its task": {
    scenario: "much-output",
    run: succeeds,
  },
  "gets over a service that is overloaded": {
    scenario: "flaky",
    async run(project) {
      await succeeds(project);
      expect(project.committed()).toContain("hello.txt");
    },
  },
  "is stopped while a tool hangs, with all that it started": {
    scenario: "slowtool",
    async run(project, way) {
      const running = project.start("run", "-n", "1", "--timeout", "10m");
      await until("the tool and its grandchild run", () => sleepers(project, 300) >= 2, 200_000);
      if (whyNot("progress", way) === null)
        await until("its tool call is shown", () => lanesOf(project).some((lane) => lane.tool_calls > 0));
      expect(await project.ralph("stop", "--now")).toMatchObject({ code: 0 });
      expect((await running.finished).code).not.toBe(0);
      expect(await project.iterations()).toMatchObject([{ report: { ending: { is: "stopped" } } }]);
    },
  },
  "is ended at its timeout, and says before what it used": {
    scenario: "slowtool",
    async run(project) {
      expect((await project.ralph("run", "-n", "1", "--timeout", "20s")).code).not.toBe(0);
      const [iteration] = await project.iterations();
      expect(iteration).toMatchObject({ verdict: "failed", report: { ending: { is: "timed-out" } } });
      expect(iteration?.report.usage.input_tokens).toBeGreaterThan(100);
    },
  },
  "is killed in the middle of its work, which is no claim": {
    scenario: "slowtool",
    async run(project) {
      const running = project.start("run", "-n", "1", "--timeout", "90s");
      await until("its tool runs", () => sleepers(project, 300) >= 2, 200_000);
      for (const pid of toolRunners(project, 300)) process.kill(pid, "SIGKILL");
      expect((await running.finished).code).not.toBe(0);
      expect(await project.iterations()).toMatchObject([
        { verdict: "failed", report: { claim: { is: "none" }, failure: { class: "agent" } } },
      ]);
    },
  },
  "goes on with its session where that is asked for": {
    scenario: "resume",
    settings: 'session = "resume"',
    async run(project) {
      await succeeds(project);
      expect(project.committed()).toEqual(expect.arrayContaining(["first.txt", "resumed.txt"]));
      const [first, second] = await project.iterations();
      expect(second?.report.session_id).toBe(first?.report.session_id);
      // What it used counts once, though some programs count a session from its beginning.
      const used = [first, second].map((iteration) => iteration?.report.usage.input_tokens ?? 0);
      expect(used[1]).toBeLessThan(1.5 * (used[0] ?? 0));
    },
  },
  "goes on with its session a minute later": {
    scenario: "resume",
    // Gemini loses a session that is loaded in the minute in which it began.
    settings: `session = "resume"
[run]
gates_every_iteration = true
[[gates]]
name = "a minute"
command = "sleep 61"`,
    async run(project) {
      await succeeds(project);
      expect(project.committed()).toEqual(expect.arrayContaining(["first.txt", "resumed.txt"]));
    },
  },
  "begins a fresh session otherwise": {
    scenario: "resume",
    async run(project) {
      await succeeds(project);
      expect(project.committed()).toEqual(expect.arrayContaining(["first.txt", "fresh.txt"]));
      const [first, second] = await project.iterations();
      expect(second?.report.session_id).not.toBe(first?.report.session_id);
    },
  },
  "claims through our tools, and is checked as ever": {
    scenario: "mcp-complete",
    async run(project) {
      await succeeds(project);
      const [iteration] = await project.iterations();
      expect(iteration).toMatchObject({ verdict: "accepted", report: { claim: { is: "complete" } } });
    },
  },
  "asks a person through our tools": {
    scenario: "mcp-decide",
    async run(project) {
      expect((await project.ralph("run")).code).toBe(3);
      expect((await project.ralph("inbox")).stdout).toContain("Which database?");
    },
  },
  "may not stop before it has committed": {
    scenario: "commit-when-told",
    // A reader would ask the same model after it.
    settings: '[git]\ncommit = "agent"\n[verify]\nreader = "never"',
    async run(project) {
      await succeeds(project);
      expect(await project.iterations()).toMatchObject([
        { verdict: "accepted", report: { tool_calls: 2, unknown_events: 0 } },
      ]);
      expect(project.committed()).toContain("hello.txt");
      // The model is told the reason once for each time that it may not stop.
      const feedback = /Stop hook feedback:\\nYou have uncommitted changes: \S+/g;
      expect(JSON.stringify(project.asked().at(-1)).match(feedback)).toEqual([
        String.raw`Stop hook feedback:\nYou have uncommitted changes: hello.txt.`,
      ]);
    },
  },
  "takes a story through its review, and may not stop without a decision": {
    scenario: "story",
    async run(project) {
      const review = { passes: false, reviewStatus: null, reviewCount: 0 };
      const story = { id: "US-1", title: "Say hello", description: "Write hello.txt", ...review };
      project.write("tasks.json", JSON.stringify({ userStories: [story] }, null, 2));
      project.commit("a story");
      expect(await project.ralph("run", "--source", "tasks.json")).toMatchObject({ code: 0 });
      const verdicts = (await project.iterations()).map(({ verdict }) => verdict);
      expect(verdicts).toEqual(["accepted", "continue", "accepted", "accepted"]);
      expect(JSON.parse(project.read("tasks.json"))).toMatchObject({
        userStories: [
          { passes: true, reviewStatus: "approved", reviewCount: 2, notes: "All of it is there now." },
        ],
      });
      const blocks = project.asked().map((request) => JSON.stringify(request).match(UNDECIDED)?.length ?? 0);
      expect(Math.max(...blocks)).toBe(1);
      expect(project.read(".ralph/logs/iteration-003.prompt.md")).toContain("fixed.txt is missing");
    },
  },
  "hears the operator while it works": {
    scenario: "steer",
    async run(project) {
      const running = project.start("run", "--timeout", "90s");
      await until("it works", () => sleepers(project, 3) > 0, 60_000);
      expect((await project.ralph("steer", "one", "use the v2 API")).code).toBe(0);
      expect((await running.finished).code).toBe(0);
      expect(project.committed()).toContain("steered.txt");
      const used = (await project.events()).filter(({ type }) => type === "steer.used");
      expect(used).toMatchObject([{ how: "message" }]);
      expect(await project.iterations()).toHaveLength(1);
    },
  },
  "is told apart when it may not do what it wants": {
    scenario: "success",
    settings: 'permission_mode = "own"',
    env: { opencode: { OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask"}' } },
    async run(project) {
      const { code, stdout } = await project.ralph("run", "-n", "1");
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("not permitted: ") });
      expect(stdout).toContain("change permission_mode");
      const [iteration] = await project.iterations();
      expect(iteration?.report.denied?.length).toBeGreaterThan(0);
      expect((await project.ralph("why", "one")).stdout.replaceAll(/\s+/g, " ")).toMatch(/not permitted/);
      expect(project.committed()).not.toContain("hello.txt");
    },
  },
  "works with the set-up of its operator, and leaves it as it was": {
    scenario: "success",
    isSetUp: true,
    async run(project) {
      await succeeds(project);
      expect(project.spoilt()).toEqual([]);
    },
  },
  "leaves a server in the background, and is done all the same": {
    scenario: "server",
    async run(project) {
      await succeeds(project);
      expect(await project.iterations()).toMatchObject([
        { verdict: "accepted", report: { ending: { is: "exited" }, unknown_events: 0 } },
      ]);
    },
  },
  "does a list of tasks with a model that is full of surprises": {
    scenario: "odd",
    async run(project) {
      const tasks = Object.keys(ODD_MODELS).map((mark) => `- [ ] **${mark}**: surprise me (#${mark})\n`);
      project.write("TODO.md", tasks.join(""));
      project.commit("the surprises");
      expect(await project.ralph("run", "--timeout", "120s")).toMatchObject({ code: 0 });
      const iterations = await project.iterations();
      const verdicts = (mark: string) =>
        iterations.filter(({ task }) => task === mark).map(({ verdict }) => verdict);
      const came = Object.keys(ODD_MODELS).map((mark) => [mark, verdicts(mark)]);
      expect(came).toEqual(Object.entries(ODD_MODELS).map(([mark, odd]) => [mark, odd.verdicts]));
      const left = Object.values(ODD_MODELS).flatMap(({ leaves }) => leaves);
      expect(project.committed()).toEqual(expect.arrayContaining(left));
      expect(iterations.filter(({ report }) => report.unknown_events > 0)).toEqual([]);
    },
  },
  "is read by a second reader, who agrees": {
    scenario: "reader-met",
    settings: '[verify]\nreader = "always"',
    async run(project) {
      await succeeds(project);
      expect(await project.iterations()).toMatchObject([{ verdict: "accepted" }]);
      expect(project.read(".ralph/logs/iteration-001.reader.prompt.md")).toMatch(/^# Second reader$/m);
      expect(project.read(".ralph/logs/iteration-001.reader.log")).toContain("<review>");
    },
  },
  "is read by a second reader, whose reason is in the next prompt": {
    scenario: "reader-not-met",
    settings: '[verify]\nreader = "always"',
    async run(project) {
      expect((await project.ralph("run", "-n", "2")).code).not.toBe(0);
      const [first] = await project.iterations();
      expect(first).toMatchObject({ verdict: "rejected" });
      expect(project.read(".ralph/logs/iteration-002.prompt.md")).toContain("hello.txt:1 shows it");
    },
  },
  "is read by a second reader, who cannot change anything": {
    scenario: "reader-edits",
    settings: '[verify]\nreader = "always"',
    async run(project) {
      await succeeds(project);
      expect(project.committed()).not.toEqual(expect.arrayContaining(["edited.txt"]));
      expect(project.git("status", "--short")).toBe("");
    },
  },
  "has no second reader when nobody can read the answer": {
    scenario: "reader-malformed",
    settings: '[verify]\nreader = "always"',
    async run(project) {
      await succeeds(project);
      expect(await project.iterations()).toMatchObject([{ verdict: "accepted" }]);
      expect(await readings(project)).toMatchObject([
        { review: null, failure: expect.any(String) as string },
      ]);
    },
  },
  "has no second reader while that one is limited": {
    scenario: "reader-limit",
    settings: '[verify]\nreader = "always"',
    async run(project) {
      await succeeds(project);
      expect(await project.iterations()).toMatchObject([{ verdict: "accepted" }]);
      expect(await readings(project)).toMatchObject([{ review: null, limited_until: expect.anything() }]);
    },
  },
} as const satisfies Record<string, Journey>;

async function readings(project: AgentProject): Promise<readonly unknown[]> {
  const { stdout } = await project.ralph("history", "--jsonl");
  return jsonLines(stdout).flatMap((event) =>
    event["type"] === "reader.answered" ? [event["reading"]] : [],
  );
}

async function succeeds(project: AgentProject): Promise<void> {
  const run = await project.ralph("run", "--timeout", "120s", "-n", "4");
  expect(run).toMatchObject({ code: 0 });
}

/** What the agents at work tell of themselves. */
function lanesOf(project: AgentProject): readonly { readonly tool_calls: number }[] {
  try {
    return (JSON.parse(project.read(".ralph/progress.json")) as { lanes: { tool_calls: number }[] }).lanes;
  } catch {
    return []; // there is none yet
  }
}

/** Shells and what they started that sleep at the model's wish. */
function sleepers(project: AgentProject, seconds: number): number {
  return sleeping(project, seconds).length;
}

function sleeping(project: AgentProject, seconds: number): readonly number[] {
  return project.leftovers(0).filter((pid) => procFile(pid, "cmdline") === `sleep\0${seconds}\0`);
}

/** The programs whose tool sleeps at the model's wish: the first above it that is no shell. */
function toolRunners(project: AgentProject, seconds: number): readonly number[] {
  const own = project.leftovers(0);
  const runnerOf = (pid: number): number =>
    /^(?:sleep|sh|dash|bash|setsid)$/.test(procFile(pid, "comm").trim())
      ? runnerOf(Number(procFile(pid, "stat").split(") ")[1]?.split(" ")[1]))
      : pid;
  return [...new Set(sleeping(project, seconds).map(runnerOf))].filter((pid) => own.includes(pid));
}

/** Nothing of a process that is gone. */
function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
