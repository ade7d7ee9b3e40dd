import { describe, expect, test } from "vitest";
import { complaint } from "./config-folder.ts";

const toml = (text: string): Promise<string> => complaint({ ".ralph/ralph.toml": text });
const json = (text: string): Promise<string> => complaint({ ".ralph/ralph.json": text });
const yaml = (text: string): Promise<string> => complaint({ ".ralph/config.yaml": text });

describe("ralph.toml", () => {
  test("a wrong type: text for a number", async () => {
    expect(await toml('[run]\nmax_stuck = "three"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "run.max_stuck": expected a whole number, 0 or more, got "three""`,
    );
  });

  test("a number in quotes", async () => {
    expect(await toml('[run]\nmax_stuck = "3"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "run.max_stuck": expected a whole number, 0 or more, got "3"; write it without quotes: 3"`,
    );
  });

  test("a boolean in quotes", async () => {
    expect(await toml('[run]\nkeep_going = "true"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "run.keep_going": expected true or false, got "true"; write it without quotes: true"`,
    );
  });

  test("a text without quotes", async () => {
    expect(await toml("agent = claude\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: not valid TOML: invalid value; a text needs quotes: agent = "claude""`,
    );
  });

  test("a number for a text", async () => {
    expect(await toml("agent = 3\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "agent": expected a text in quotes, got 3; put it in quotes: "3""`,
    );
  });

  test("an empty text", async () => {
    expect(await toml('agent = ""\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "agent": expected a text in quotes, which is not empty"`,
    );
  });

  test("a negative number", async () => {
    expect(await toml("[run]\n\nmax_attempts = -1\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:3: "run.max_attempts": expected a whole number, 0 or more, got -1"`,
    );
  });

  test("zero where one is the least", async () => {
    expect(await toml("[run]\nmax_iterations = 0\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "run.max_iterations": expected a whole number, 1 or more, got 0"`,
    );
  });

  test("a fraction", async () => {
    expect(await toml("[run]\nretries = 1.5\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "run.retries": expected a whole number, 0 or more, got 1.5"`,
    );
  });

  test("a wrong choice, near a right one", async () => {
    expect(await toml('mode = "tourough"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "mode": expected "speed", "standard" or "thorough", got "tourough". Did you mean "thorough"?"`,
    );
  });

  test("a wrong choice, near none", async () => {
    expect(await toml('[git]\ncommit = "somebody"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "git.commit": expected "ralph" or "agent", got "somebody""`,
    );
  });

  test("an unknown key", async () => {
    expect(await toml("[run]\nmax_stucks = 3\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: unknown key "max_stucks" in [run]. Did you mean "max_stuck"?"`,
    );
  });

  test("an unknown key that is near nothing", async () => {
    expect(await toml('[run]\ncolour = "red"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: unknown key "colour" in [run]. Known here: "max_iterations", "max_stuck", "max_attempts", "parallel", "keep_going", "gates_every_iteration", "gates_parallel", "idle_timeout", "adaptive_iterations", "retries", "fallback_agents""`,
    );
  });

  test("a key in the wrong section", async () => {
    expect(await toml('[run]\nagent = "claude"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: unknown key "agent" in [run]; it belongs at the top, before the first [section]"`,
    );
  });

  test("a key outside of its section", async () => {
    expect(await toml("max_stuck = 3\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: unknown key "max_stuck"; it belongs in [run]"`,
    );
  });

  test("an unknown section", async () => {
    expect(await toml("[rn]\nmax_stuck = 3\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: unknown section [rn]. Did you mean [run]?"`,
    );
  });

  test("an unknown list of tables", async () => {
    expect(await toml('[[gate]]\nname = "tests"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: unknown section [[gate]]. Did you mean [[gates]]?"`,
    );
  });

  test("an unknown section that is near nothing", async () => {
    expect(await toml("[colours]\nred = 1\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: unknown section [colours]. Known here: [run], [limits], [breaker], [prices.NAME], [promise], [[gates]], [agents.NAME], [stages.NAME], [review], [git], [worktree], [protect], [verify], [sandbox], [interventions], [adaptive_timeout], [unblock], [github], [logs], [notify], [queue]"`,
    );
  });

  test("a section that is a value", async () => {
    expect(await toml("run = 3\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "run": expected a section, [run], got 3"`,
    );
  });

  test("a list of tables that is one table", async () => {
    expect(await toml('[gates]\nname = "tests"\ncommand = "npm test"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "gates": expected a list; write [[gates]] instead of [gates]"`,
    );
  });

  test("an unknown key in a list of tables", async () => {
    expect(
      await toml(
        '[[gates]]\nname = "lint"\ncommand = "x"\n\n[[gates]]\nname = "tests"\ncomand = "npm test"\n',
      ),
    ).toMatchInlineSnapshot(
      `".ralph/ralph.toml:7: unknown key "comand" in [[gates]]. Did you mean "command"?"`,
    );
  });

  test("a missing key", async () => {
    expect(await toml('[[gates]]\nname = "tests"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: "gates.0.command" is missing; expected a text in quotes"`,
    );
  });

  test("a duration that is none", async () => {
    expect(await toml('[[gates]]\nname = "a"\ncommand = "b"\ntimeout = "soon"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:4: "gates.0.timeout": expected a duration longer than 0, such as "90s", "45m", "2h" or "1h30m", got "soon""`,
    );
  });

  test("a negative duration", async () => {
    expect(await toml('[[gates]]\nname = "a"\ncommand = "b"\ntimeout = -5\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:4: "gates.0.timeout": expected a duration longer than 0, such as "90s", "45m", "2h" or "1h30m", got -5"`,
    );
  });

  test("a duration of another type", async () => {
    expect(await toml('[[gates]]\nname = "a"\ncommand = "b"\ntimeout = true\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:4: "gates.0.timeout": expected a duration longer than 0, such as "90s", "45m", "2h" or "1h30m", got true"`,
    );
  });

  test.each(['"soon"', "true", "-5"])("a duration that may be off: %s", async (value) => {
    expect(await toml(`[run]\nidle_timeout = ${value}\n`)).toBe(
      `.ralph/ralph.toml:2: "run.idle_timeout": expected a duration, such as "90s", "45m" or "2h", or "0" for off, got ${value}`,
    );
  });

  test("two gates with one name", async () => {
    expect(
      await toml('[[gates]]\nname = "a"\ncommand = "b"\n[[gates]]\nname = "a"\ncommand = "c"\n'),
    ).toMatchInlineSnapshot(
      `".ralph/ralph.toml:5: "gates.1.name": another gate is called "a" too; give each its own name"`,
    );
  });

  test("an agent without a command", async () => {
    expect(await toml('agent = "mine"\n\n[agents.mine]\nenv_deny = ["X"]\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:3: the agent "mine" has no command; add for example: command = ["my-agent", "--yes"]"`,
    );
  });

  test("a command that is one text", async () => {
    expect(await toml('[agents.mine]\ncommand = "mine --yes"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "agents.mine.command": expected a list of texts, such as ["one", "two"], got "mine --yes"; write it as a list: ["mine", "--yes"]"`,
    );
  });

  test("an empty command", async () => {
    expect(await toml("[agents.mine]\ncommand = []\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "agents.mine.command": expected a list of texts, such as ["one", "two"], got an empty list"`,
    );
  });

  test("a wrong value of a variable, which may be secret", async () => {
    expect(
      await toml('[agents.mine]\ncommand = ["mine"]\n[agents.mine.env]\nAPI_KEY = 12345678\n'),
    ).toMatchInlineSnapshot(
      `".ralph/ralph.toml:4: "agents.mine.env.API_KEY": expected a text in quotes, got a number"`,
    );
  });

  test("two names for one key", async () => {
    expect(await toml("[promise]\nrequire_xml = true\nrequire_xml_format = false\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:3: "promise.require_xml_format" is another name for "promise.require_xml", which is there too; remove one"`,
    );
  });

  test("a wrong value under another name", async () => {
    expect(await toml("[promise]\nrequire_xml_format = 1\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "promise.require_xml_format": expected true or false, got 1"`,
    );
  });

  test("a list with a word that is none of those it may have", async () => {
    expect(await toml('[notify]\non = ["don"]\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "notify.on.0": expected "done", "blocked", "decide", "stuck", "budget", "limit" or "ended", got "don". Did you mean "done"?"`,
    );
    expect(await toml('[notify]\non = "done"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "notify.on": expected a list of any of "done", "blocked", "decide", "stuck", "budget", "limit", "ended", got "done"; write it as a list: ["done"]"`,
    );
  });

  test("an address that is none, and is not repeated", async () => {
    expect(await toml('[notify]\nwebhook = "hooks.slack.com/services/T0/B0/secret"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "notify.webhook": expected a web address, such as "https://example.com/ralph""`,
    );
    expect(await toml('[notify]\nwebhook = "file:///etc/passwd"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "notify.webhook": expected a web address, such as "https://example.com/ralph""`,
    );
  });

  test("a secret that is no text, and is not repeated", async () => {
    expect(await toml("[notify]\nsecret = 12345678\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: "notify.secret": expected a text in quotes, got a number"`,
    );
  });

  test("TOML: no value", async () => {
    expect(await toml("agent =\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: not valid TOML: invalid value; a value is missing after "=""`,
    );
  });

  test("TOML: a key twice", async () => {
    expect(await toml('agent = "a"\nagent = "b"\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: not valid TOML: trying to redefine an already defined table or value; "agent" was there before"`,
    );
  });

  test("TOML: an open bracket", async () => {
    expect(await toml("[run\nmax_stuck = 1\n")).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: not valid TOML: illegal character in key; a "]" is missing: [run]"`,
    );
  });

  test("TOML: an open quote", async () => {
    expect(await toml('agent = "claude\n')).toMatchInlineSnapshot(
      `".ralph/ralph.toml:1: not valid TOML: control characters are not allowed in strings; is a closing quote missing?"`,
    );
  });
});

describe("ralph.json", () => {
  test("JSON: a comma too many", async () => {
    expect(await json('{\n  "agent": "demo",\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:3: not valid JSON: expected a key in double quotes, got \`}\`"`,
    );
  });

  test("JSON: no comma", async () => {
    expect(await json('{\n  "agent": "demo"\n  "mode": "speed"\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:3: not valid JSON: expected "," or "}", got \`"\`"`,
    );
  });

  test("JSON: a key without quotes", async () => {
    expect(await json('{\n  agent: "demo"\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:2: not valid JSON: expected a key in double quotes or "}", got \`agent\`"`,
    );
  });

  test("JSON: the same key twice", async () => {
    expect(await json('{\n  "agent": "demo",\n  "agent": "claude"\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:3: not valid JSON: "agent" is there twice"`,
    );
  });

  test("JSON: cut off", async () => {
    expect(await json('{\n  "agent": ')).toMatchInlineSnapshot(
      `".ralph/ralph.json:2: not valid JSON: expected a value, got the end of the file"`,
    );
  });

  test("JSON: a list", async () => {
    expect(await json("[]\n")).toMatchInlineSnapshot(
      `".ralph/ralph.json:1: the whole file: expected an object in braces, got an empty list"`,
    );
  });

  test("JSON: an unknown key", async () => {
    expect(await json('{\n  "run": {\n    "max_stuk": 1\n  }\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:3: unknown key "max_stuk" in "run". Did you mean "max_stuck"?"`,
    );
  });

  test("JSON: a wrong type", async () => {
    expect(
      await json('{\n  "gates": [\n    {\n      "name": "a",\n      "command": 3\n    }\n  ]\n}\n'),
    ).toMatchInlineSnapshot(
      `".ralph/ralph.json:5: "gates.0.command": expected a text in quotes, got 3; put it in quotes: "3""`,
    );
  });

  test("JSON: a key in the wrong place", async () => {
    expect(await json('{\n  "max_stuck": 1\n}\n')).toMatchInlineSnapshot(
      `".ralph/ralph.json:2: unknown key "max_stuck"; it belongs in "run""`,
    );
  });
});

describe("config.yaml", () => {
  test("YAML: bad indentation", async () => {
    expect(await yaml("ralph:\n  coder:\n   enabled: true\n  tester\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:4: not valid YAML: Implicit map keys need to be followed by map values, at "tester""`,
    );
  });

  test("YAML: the same key twice", async () => {
    expect(await yaml("ralph:\n  enabled: true\n  enabled: true\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:3: not valid YAML: Map keys must be unique, at "enabled""`,
    );
  });

  test("YAML: an unknown key", async () => {
    expect(await yaml("ralph:\n  coder:\n    max_iteration: 3\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:3: unknown key "max_iteration" in "ralph.coder". Did you mean "max_iterations"?"`,
    );
  });

  test("YAML: an unknown stage", async () => {
    expect(await yaml("ralph:\n  codr:\n    max_iterations: 3\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:2: unknown key "codr" in "ralph". Did you mean "coder"?"`,
    );
  });

  test("YAML: a wrong type", async () => {
    expect(await yaml("ralph:\n  coder:\n    max_iterations: many\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:3: "ralph.coder.max_iterations": expected a whole number, 1 or more, got "many""`,
    );
  });

  test("YAML: not the tree", async () => {
    expect(await yaml("coder:\n  max_iterations: 3\n")).toMatchInlineSnapshot(
      `".ralph/config.yaml:1: unknown key "coder". Known here: "ralph""`,
    );
  });
});

describe("variables", () => {
  test("a number that is none", async () => {
    expect(await complaint({}, { RALPH_RUN_MAX_STUCK: "many" })).toMatchInlineSnapshot(`
      "RALPH_RUN_MAX_STUCK is "many"; expected a whole number, 0 or more
      it sets "run.max_stuck"; without the variable the file or the default counts: unset RALPH_RUN_MAX_STUCK"
    `);
  });

  test("a negative number", async () => {
    expect(await complaint({}, { RALPH_RUN_MAX_STUCK: "-1" })).toMatchInlineSnapshot(`
      "RALPH_RUN_MAX_STUCK is "-1"; expected a whole number, 0 or more
      it sets "run.max_stuck"; without the variable the file or the default counts: unset RALPH_RUN_MAX_STUCK"
    `);
  });

  test("a wrong choice", async () => {
    expect(await complaint({}, { RALPH_MODE: "sped" })).toMatchInlineSnapshot(`
      "RALPH_MODE is "sped"; expected "speed", "standard" or "thorough". Did you mean "speed"?
      it sets "mode"; without the variable the file or the default counts: unset RALPH_MODE"
    `);
  });

  test("a boolean that is none", async () => {
    expect(await complaint({}, { RALPH_RUN_KEEP_GOING: "maybe" })).toMatchInlineSnapshot(`
      "RALPH_RUN_KEEP_GOING is "maybe"; expected true or false
      it sets "run.keep_going"; without the variable the file or the default counts: unset RALPH_RUN_KEEP_GOING"
    `);
  });

  test("an address that is none, and may be secret", async () => {
    expect(await complaint({}, { RALPH_NOTIFY_WEBHOOK: "hooks.slack.com/secret" })).toMatchInlineSnapshot(`
      "RALPH_NOTIFY_WEBHOOK is no address; expected a web address, such as "https://example.com/ralph"
      it sets "notify.webhook"; without the variable the file or the default counts: unset RALPH_NOTIFY_WEBHOOK"
    `);
  });
});

describe("files", () => {
  test("two files that contradict each other", async () => {
    const files = {
      ".ralph/ralph.toml": 'agent = "demo"\n[run]\nmax_stuck = 7\n',
      ".ralph/ralph.json": '{\n  "agent": "demo",\n  "run": {"max_stuck": 5}\n}',
    };
    expect(await complaint(files)).toMatchInlineSnapshot(`
      ".ralph/ralph.toml:3 and .ralph/ralph.json:3: "run.max_stuck" has different values
      Keep only one of them."
    `);
  });

  test("our own file and that of another program contradict each other, in the words of both", async () => {
    const files = {
      ".ralph/ralph.toml": "[stages.reviewer]\nmax_iterations = 3\n",
      ".specflow/config.yaml": "ralph:\n  default_max_iterations: 4\n  reviewer: {}\n",
    };
    expect(await complaint(files)).toMatchInlineSnapshot(`
      ".ralph/ralph.toml:2 and .specflow/config.yaml:2: "stages.reviewer.max_iterations" and "ralph.default_max_iterations" mean the same and have different values
      Keep only one of them."
    `);
  });

  test("two trees with different limits for every task", async () => {
    const tree = (limit: number): string => `ralph:\n  coder:\n    max_iterations: ${limit}\n`;
    const files = { ".ralph/config.yaml": tree(4), ".specflow/config.yaml": tree(5) };
    expect(await complaint(files)).toMatchInlineSnapshot(`
      ".specflow/config.yaml:3 and .ralph/config.yaml:3: "ralph.coder.max_iterations" has different values
      Keep only one of them."
    `);
  });

  test("a mistake in the second file", async () => {
    const files = {
      ".ralph/ralph.toml": "[run]\nmax_stuck = 7\n",
      ".ralph/ralph.json": '{\n"run": {"retires": 1}}',
    };
    expect(await complaint(files)).toMatchInlineSnapshot(
      `".ralph/ralph.json:2: unknown key "retires" in "run". Did you mean "retries"?"`,
    );
  });

  test("a key of another loop's at a place where it says nothing", async () => {
    expect(
      await complaint({ ".ralph/ralph.toml": "[run]\nrequire_xml_format = false\n" }),
    ).toMatchInlineSnapshot(
      `".ralph/ralph.toml:2: unknown key "require_xml_format" in [run]; it belongs in [promise]"`,
    );
  });

  test("a mistake in the tree of another program's file", async () => {
    const files = { ".specflow/config.yaml": "project: x\nralph:\n  coder:\n    promise: DONE\n" };
    expect(await complaint(files)).toMatchInlineSnapshot(
      `".specflow/config.yaml:4: unknown key "promise" in "ralph.coder". Known here: "enabled", "max_iterations", "completion_promise""`,
    );
  });

  test("a file that is far too large", async () => {
    expect(await complaint({ ".ralph/ralph.toml": "#".repeat(200_000) })).toMatchInlineSnapshot(
      `".ralph/ralph.toml is larger than 100 kB; that is no configuration"`,
    );
  });

  test("a folder in the place of the file", async () => {
    expect(await complaint({ ".ralph/ralph.toml/x": "" })).toMatchInlineSnapshot(
      `".ralph/ralph.toml cannot be read (EISDIR)"`,
    );
  });
});
