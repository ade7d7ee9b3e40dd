import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, jsonLines, startRalph, WORKS, type Project } from "./project.ts";

const projects: Project[] = [];

afterEach(() => {
  for (const project of projects.splice(0)) project.dispose();
});

function projectWith(
  plugin: string,
  more: { readonly config?: string; readonly file?: string } = {},
): Project {
  const { config = "", file = "plugin.mjs" } = more;
  const project = createProject({
    config: `agent = "demo"\nplugins = ["./${file}"]\n${config}\n[agents.demo]\nscript = ".ralph/script.json"\n`,
  });
  project.write(file, plugin);
  project.commit("plugin");
  projects.push(project);
  return project;
}

const plugin = (parts: string): string => `export default { apiVersion: 1, name: "mine", ${parts} };\n`;

describe("a broken plugin is named, and nothing starts", () => {
  test.each([
    ["throws", 'throw new Error("no licence");', "the plugin ./plugin.mjs cannot be loaded: no licence"],
    [
      "is no JavaScript",
      "export default {",
      "the plugin ./plugin.mjs cannot be loaded: Unexpected end of input",
    ],
    ["exports nothing", "export const other = 1;", "the plugin ./plugin.mjs exports no plugin"],
    ["has no version", 'export default { name: "mine" };', "does not say for which version it was written"],
    [
      "is for another version",
      'export default { apiVersion: 7, name: "mine" };',
      "was written for version 7 of the plugin API, and this ralph has version 1",
    ],
    ["has no name", "export default { apiVersion: 1 };", "has the name undefined"],
    [
      "has an unknown part",
      plugin("guard: {}"),
      'has a field "guard" that nobody knows. Did you mean "guards"?',
    ],
    [
      "lacks a function",
      plugin("guards: { tidy: { on: 'claim' } }"),
      'has in "guards" a part "tidy" whose "check" is missing; expected a function',
    ],
    [
      "has a wrong value",
      plugin("guards: { tidy: { check: () => [], on: 'always' } }"),
      'whose "on" is "always"; expected one of "claim", "work"',
    ],
    [
      "waits for a notice that does not exist",
      plugin("notifiers: { pager: { notify() {}, on: ['blocked', 'dnoe'] } }"),
      'the plugin ./plugin.mjs has in "notifiers" a part "pager" whose "on" is ["blocked","dnoe"]; expected a list of "done", "blocked", "decide", "stuck", "budget", "limit", "ended", "test". Did you mean "done"?',
    ],
    [
      "waits for notices in another form",
      plugin("notifiers: { pager: { notify() {}, on: 'done' } }"),
      'whose "on" is "done"; expected a list of "done", ',
    ],
    [
      "takes the name of an agent",
      plugin("agents: { claude: { command: ['true'] } }"),
      'the agent "claude" of the plugin "mine" has the name of an agent that is built in',
    ],
    [
      "imports what is not there",
      'import "nowhere-to-be-found";\nexport default {};',
      "Cannot find package 'nowhere-to-be-found'",
    ],
  ])("one that %s", async (_, text, says) => {
    const project = projectWith(text);
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toContain(says);
    expect(code).toBe(64);
    expect(await project.events()).toEqual([]);
  });

  test.each([
    [
      "plugin.mjs",
      "export default {\n  name: 1,\n};\nthis is an error\n",
      "Unexpected identifier 'is' (plugin.mjs:4)",
    ],
    ["plug in.ts", "const one: number = 1;\nlet two: = 2;\n", " (plug in.ts:2)"],
    ["plugin.cjs", "module.exports = {\n  a b\n};\n", "Unexpected identifier 'b' (plugin.cjs:2)"],
    ["plugin.mjs", 'import "./parts/whole.mjs";\nimport "./parts/half.mjs";\n', "(parts/half.mjs:3)"],
    [
      "plugin.mjs",
      'import "./parts/whole.mjs";\nimport { two } from "./parts/whole.mjs";\n',
      "(plugin.mjs:2)",
    ],
  ])("one with a mistake in its syntax, with the place: %s, %j", async (file, text, says) => {
    const project = projectWith(text, { file });
    project.write("parts/whole.mjs", "export const one = 1;\n");
    project.write("parts/half.mjs", "\n\nexport const = 2;\n");
    project.commit();
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toContain(`the plugin ./${file} cannot be loaded: `);
    expect(stderr.split("\n")[0]).toContain(says);
    expect(code).toBe(64);
  });

  test("one that is not there, by path and by name", async () => {
    const project = createProject({ config: 'agent = "demo"\nplugins = ["./gone.mjs"]\n' });
    projects.push(project);
    const missing = await project.ralph("run");
    expect([missing.code, missing.stderr]).toEqual([
      64,
      expect.stringContaining("./gone.mjs does not exist"),
    ]);
    project.write(".ralph/ralph.toml", 'agent = "demo"\nplugins = ["ralph-plugin-gone"]\n');
    const uninstalled = await project.ralph("run");
    expect(uninstalled.code).toBe(64);
    expect(uninstalled.stderr).toContain("the plugin ralph-plugin-gone is not installed for this repository");
  });

  test("two with the same agent", async () => {
    const agents = "agents: { scribe: { command: ['true'] } }";
    const project = projectWith(plugin(agents));
    project.write("other.mjs", `export default { apiVersion: 1, name: "other", ${agents} };\n`);
    project.write(".ralph/ralph.toml", 'agent = "scribe"\nplugins = ["./plugin.mjs", "./other.mjs"]\n');
    project.commit("another");
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toContain(
      'the agent "scribe" of the plugin "other" has the name of the agent "scribe" of the plugin "mine"',
    );
    expect(code).toBe(64);
  });
});

test("commands that only look load no plugin", async () => {
  const project = projectWith(
    `import { appendFileSync } from "node:fs";\nappendFileSync(".ralph/loaded.txt", "x");\n${plugin("")}`,
  );
  const commands = ["status", "history", "tasks", "config", "blocked", "inbox", "metrics", "doctor", "logs"];
  for (const command of commands) await project.ralph(command);
  await project.ralph("steer", "go on");
  expect(existsSync(join(project.root, ".ralph/loaded.txt"))).toBe(false);
  expect((await project.ralph("run")).code).toBe(0);
  expect(existsSync(join(project.root, ".ralph/loaded.txt"))).toBe(true);
});

test("doctor names the plugins, and does not miss the agent that one of them brings along", async () => {
  const project = createProject({ config: 'agent = "scribe"\nplugins = ["./plugin.mjs", "./gone.mjs"]\n' });
  projects.push(project);
  project.write("plugin.mjs", plugin("agents: { scribe: { command: ['true'] } }"));
  const { stdout, code } = await project.ralph("doctor");
  expect(stdout).toContain("✔ agent scribe: not built in: a plugin has to bring it along");
  expect(stdout).toContain("✔ plugin ./plugin.mjs: loaded when a run starts");
  expect(stdout).toContain("✗ plugin ./gone.mjs: there is no such file");
  expect(code).toBe(1);
});

test("a plugin that ends the program while it is loaded is named", async () => {
  const project = projectWith(`process.exit(0);\n${plugin("")}`);
  const { code, stderr } = await project.ralph("gates");
  expect(stderr).toBe("ralph: the plugin ./plugin.mjs ends the program while it is loaded\n");
  expect(code).toBe(64);
});

describe("a plugin that fails while it runs", () => {
  test.each([
    ["a promise", "Promise.reject(new Error('stray'))"],
    ["a timer", "setTimeout(() => { throw new Error('stray'); }, 1)"],
  ])("in %s that nobody waits for is named, and the run goes on", async (_, stray) => {
    const project = projectWith(plugin(`analyzers: { mine: { analyze() { ${stray}; return []; } } }`));
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toContain("the plugin ./plugin.mjs threw while nobody waited for it: stray");
    expect(code).toBe(0);
  });

  test("as a guard holds the claim until a person has mended it, and blames no agent", async () => {
    const project = projectWith(plugin("guards: { strict: { check() { throw new Error('no network'); } } }"));
    const first = await project.ralph("run");
    expect(first.code).toBe(2);
    const failure = 'the guard "strict" of the plugin "mine" failed: no network';
    expect(first.stderr).toContain(failure);
    expect(await project.history()).toMatchObject([{ verdict: "blocked", reasons: [failure] }]);
    const interventions = (await project.events()).filter(({ type }) => type === "intervention.chosen");
    expect(interventions).toEqual([]);
    project.write("plugin.mjs", plugin("guards: { strict: { check: () => [] } }"));
    project.commit("mended");
    expect((await project.ralph("unblock", "one")).code).toBe(0);
    expect((await project.ralph("run")).code).toBe(0);
    expect((await project.history()).at(-1)).toMatchObject({ verdict: "accepted" });
  });

  test("as an analyzer is left out, with a warning, which is in the logbook too, without secrets", async () => {
    const project = projectWith(
      plugin(
        "analyzers: { odd: { analyze: () => [{ says: 'perhaps' }] }, spy: { analyze() { throw new Error('no ' + process.env.SPY_TOKEN); } } }",
      ),
    );
    const env = { ...project.env, SPY_TOKEN: "hunter2-hunter2" };
    const { code, stderr } = await startRalph(project.root, env, ["run"]).finished;
    expect(code).toBe(0);
    const warned = jsonLines(project.read(".ralph/logs/ralph.log")).filter(({ level }) => level === "warn");
    for (const text of [stderr, JSON.stringify(warned)]) {
      expect(text.replaceAll("\\", "")).toContain(
        'the analyzer "odd" of the plugin "mine" answered something else than a list of signals',
      );
      expect(text.replaceAll("\\", "")).toContain('the analyzer "spy" of the plugin "mine" failed: no ');
      expect(text).not.toContain("hunter2");
    }
  });

  test("as a gate is a gate that failed, or took too long", async () => {
    const project = projectWith(
      plugin(
        "gates: { broken: { check() { throw new Error('no disk'); } }, slow: { timeoutMs: 20, check: () => new Promise(() => {}) } }",
      ),
      { config: "[run]\nmax_iterations = 1\n" },
    );
    const { code } = await project.ralph("run");
    expect(code).toBe(1);
    const checked = await project.ralph("gates", "--json");
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject([
      { name: "broken", status: "failed", tail: 'the gate "broken" of the plugin "mine" failed: no disk' },
      { name: "slow", status: "timeout" },
    ]);
  });

  test("as a notifier is told of once, and the run goes on", async () => {
    const project = projectWith(
      plugin("notifiers: { pager: { notify() { throw new Error('no signal'); } } }"),
    );
    const { code, stderr } = await project.ralph("run");
    expect(stderr).toContain('the notifier "pager" of the plugin "mine" failed: no signal');
    expect(code).toBe(0);
  });

  test("as a source stops the start, and names what is wrong with its tasks", async () => {
    const project = projectWith(
      plugin("sources: { list: { observe: () => [{ id: 'a', title: 7 }], mark() {} } }"),
      { config: "" },
    );
    const { code, stderr } = await project.ralph("run", "--source", "plugin:list");
    expect(stderr).toContain(
      'the source "list" of the plugin "mine" has in its task 1 a "title" that is no such thing',
    );
    expect(code).toBe(64);
    const unknown = await project.ralph("run", "--source", "plugin:lists");
    expect(unknown.stderr).toContain('no plugin has a source "lists"');
    expect(unknown.code).toBe(64);
  });
});

test("what plugins said is in the log: it is shown again without them", async () => {
  const project = projectWith(
    plugin("guards: { fussy: { check: ({ iteration }) => (iteration === 1 ? ['the tone is wrong'] : []) } }"),
  );
  expect((await project.ralph("run")).code).toBe(0);
  const before = (await project.ralph("why", "one")).stdout;
  expect(before).toContain("the tone is wrong");
  project.remove("plugin.mjs");
  expect((await project.ralph("why", "one")).stdout).toBe(before);
  const log = (await project.ralph("history", "--jsonl")).stdout;
  project.write("log.jsonl", log);
  const replayed = await project.ralph("replay", "log.jsonl");
  expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("the tone is wrong")]);
  const { certificate } = (await project.events()).find(({ type }) => type === "task.completed") as {
    certificate: { checks: readonly string[] };
  };
  expect(certificate.checks).toContain("mine/fussy");
});

test("an agent cannot change the plugin that judges it", async () => {
  const project = projectWith(plugin("guards: { strict: { check: () => [] } }"));
  project.script({ one: [[{ shell: "echo 'export default 1' > plugin.mjs" }, ...WORKS], WORKS] });
  expect((await project.ralph("run")).code).toBe(0);
  const [first] = await project.history();
  expect(first?.verdict).toBe("rejected");
  expect(first?.reasons.join()).toContain("plugin.mjs");
  expect(project.read("plugin.mjs")).toContain("apiVersion");
});

test("a plugin in TypeScript gets the ralph that runs it, though none is installed", async () => {
  const project = projectWith(
    `import { definePlugin, RalphError, type Plugin } from "ralph";
     const mine: Plugin = definePlugin({ apiVersion: 1, name: "typed", gates: {
       real: { check: () => ({ passed: new RalphError("usage", "x").code === "usage" }) } } });
     export default mine;\n`,
    { file: "plugin.mts" },
  );
  expect((await project.ralph("run")).code).toBe(0);
  expect((await project.history()).at(-1)).toMatchObject({ gates: [{ name: "real", status: "passed" }] });
});

test("tasks of a plugin are worked on in worktrees too, where guards see the worktree", async () => {
  const project = projectWith(
    `import { existsSync, readFileSync, writeFileSync } from "node:fs";
     import { join } from "node:path";
     const file = ({ root }) => join(root, ".ralph", "done.json");
     const done = (context) => existsSync(file(context)) ? JSON.parse(readFileSync(file(context), "utf8")) : [];
     export default { apiVersion: 1, name: "mine",
       sources: { list: {
         observe: (context) => ["a", "b"].map((id) => ({ id, title: "make " + id, done: done(context).includes(id) })),
         mark: (id, context) => writeFileSync(file(context), JSON.stringify([...done(context), id])) } },
       guards: { there: { check: ({ root, task }) => existsSync(join(root, task.id + ".txt")) ? [] : ["no file"] } } };\n`,
    { config: 'source = "plugin:list"\n' },
  );
  expect((await project.ralph("run", "--parallel", "2")).code).toBe(0);
  expect(JSON.parse(project.read(".ralph/done.json")).toSorted()).toEqual(["a", "b"]);
  const { stderr, code } = await project.ralph("tasks");
  expect([code, stderr]).toEqual([64, expect.stringContaining("this command loads none")]);
});

const EVERYTHING = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "ralph";
const file = ({ root }) => join(root, ".ralph", "closed.txt");
const closed = (context) => (existsSync(file(context)) ? readFileSync(file(context), "utf8") : "");
export default definePlugin({
  apiVersion: 1,
  name: "everything",
  agents: { typist: { command: ["sh", "-c", "echo hi >> page.txt; echo READY"] } },
  sources: {
    one: {
      observe: (context) => [{ id: "page", title: "Write a page", done: closed(context).includes("page") }],
      mark: (id, context) => writeFileSync(file(context), id),
    },
  },
  analyzers: { ready: { analyze: ({ finalText }) => finalText.includes("READY") ? [{ says: "complete", confidence: 100 }] : [] } },
  guards: { twice: { check: ({ root }) => readFileSync(join(root, "page.txt"), "utf8").length < 6 ? ["it is too short"] : [] } },
  exitRules: { long: { check: ({ root }) => readFileSync(join(root, "page.txt"), "utf8").length > 11 ? { ends: "complete", because: "it is long" } : null } },
  gates: { there: { check: ({ root }) => ({ passed: existsSync(join(root, "page.txt")) || !existsSync(file({ root })) }) } },
  notifiers: { file: { on: ["done"], notify: ({ kind }) => appendFileSync(".ralph/told.txt", kind) } },
});
`;

describe("every kind of part comes from outside", () => {
  test.each([
    ["a path beside the repository", "../shared/plugin.mjs", ["../shared/plugin.mjs"]],
    [
      "a package that is installed for it",
      "ralph-plugin-everything",
      ["node_modules/ralph-plugin-everything/index.js", "node_modules/ralph-plugin-everything/package.json"],
    ],
  ])("by %s", async (_, name, [file = "", manifest]) => {
    const project = createProject({
      config: `agent = "typist"\nsource = "plugin:one"\nplugins = ["${name}"]\n`,
    });
    projects.push(project);
    project.write(".gitignore", "node_modules/\n");
    project.write(file, EVERYTHING);
    if (manifest !== undefined)
      project.write(manifest, '{ "type": "module", "exports": { "import": "./index.js" } }');
    project.commit("everything");
    expect((await project.ralph("run")).code).toBe(0);
    expect(await project.history()).toMatchObject([
      { task: "page", verdict: "rejected", reasons: ["it is too short"] },
      { task: "page", verdict: "accepted", gates: [{ name: "there", status: "passed" }] },
    ]);
    expect(project.read(".ralph/closed.txt")).toBe("page");
    expect(project.read(".ralph/told.txt")).toBe("done");
    project.write("PROMPT.md", "Write on.\n");
    project.commit("open-ended");
    expect((await project.ralph("run", "--prompt", "PROMPT.md")).code).toBe(0);
    expect((await project.history()).at(-1)?.reasons).toContain("it is long");
  });
});
