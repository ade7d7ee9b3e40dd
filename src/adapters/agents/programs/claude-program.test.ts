import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LAUNCH } from "../../../../test/fixtures/launch.ts";
import type { Launch } from "../agent-adapter.ts";
import { claudeProgram } from "./claude-program.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-hooks-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The workspace and the user's own folder are below the test's. */
function argumentsOf(over: Partial<Launch> = {}): readonly string[] {
  const launch = { ...LAUNCH, workspace: join(folder, "repo"), env: { HOME: join(folder, "home") }, ...over };
  return claudeProgram.command(launch, "/prompt.md").command;
}

function commandsOf(over: Partial<Launch> = {}): Readonly<Record<string, string>> {
  const all = argumentsOf(over);
  if (!all.includes("--settings")) return {};
  const { hooks } = JSON.parse(all[all.indexOf("--settings") + 1] ?? "") as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  return Object.fromEntries(
    Object.entries(hooks).map(([event, [entry]]) => [event, entry?.hooks[0]?.command ?? ""]),
  );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function settingsWith(command: string, event = "Stop"): string {
  return JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } });
}

test("a second reader runs no hooks at all, and reads no instructions of the repository", () => {
  write("repo/.claude/settings.json", settingsWith("touch x"));
  const all = argumentsOf({ agent: { ...LAUNCH.agent, permissions: "read" } });
  expect(all[all.indexOf("--settings") + 1]).toBe('{"disableAllHooks":true,"claudeMdExcludes":["**"]}');
});

test("a run gives both hooks to the agent", () => {
  const all = argumentsOf();
  expect(JSON.parse(all[all.indexOf("--settings") + 1] ?? "")).toEqual({
    hooks: {
      Stop: [{ hooks: [{ type: "command", command: "/opt/node /opt/ralph hook stop" }] }],
      PostToolUse: [
        { matcher: "*", hooks: [{ type: "command", command: "/opt/node /opt/ralph hook post-tool-use" }] },
      ],
    },
  });
});

test.each(["plain", "with spaces", `it's "quoted" $HOME \`x\` \\ ; &`])(
  "a shell starts us from a folder called %s",
  (name) => {
    write(`${name}/program`, '#!/bin/sh\nprintf "%s|" "$@"\n');
    const program = join(folder, name, "program");
    chmodSync(program, 0o755);
    const { Stop = "" } = commandsOf({ ownProgram: [program, join(folder, name, "start.cjs")] });
    const { stdout } = spawnSync("/bin/sh", ["-c", Stop], { encoding: "utf8" });
    expect(stdout).toBe(`${join(folder, name, "start.cjs")}|hook|stop|`);
  },
);

test.each(["repo/.claude/settings.json", "repo/.claude/settings.local.json", "home/.claude/settings.json"])(
  "a hook that %s has is not given again, the other one is",
  (path) => {
    write(path, settingsWith("'/a b/bin/ralph' hook stop"));
    expect(Object.keys(commandsOf())).toEqual(["PostToolUse"]);
  },
);

test("the user's settings may lie elsewhere", () => {
  write("elsewhere/settings.json", settingsWith("ralph hook stop"));
  const env = { HOME: join(folder, "home"), CLAUDE_CONFIG_DIR: join(folder, "elsewhere") };
  expect(Object.keys(commandsOf({ env }))).toEqual(["PostToolUse"]);
});

test("nothing is given when the settings have both", () => {
  write("repo/.claude/settings.json", settingsWith("ralph hook stop"));
  write("repo/.claude/settings.local.json", settingsWith("ralph hook post-tool-use", "PostToolUse"));
  expect(argumentsOf()).not.toContain("--settings");
});

test.each([
  ["hooks of others", settingsWith("notify-send done")],
  ["our hook at another event", settingsWith("ralph hook stop", "SubagentStop")],
  ["a byte order mark and no hooks", '\uFEFF{"model": "opus"}'],
  ["no JSON", "{ // mine"],
  ["another shape", '{"hooks": {"Stop": [null, {"hooks": "x"}, {"hooks": [1, {}]}]}}'],
])("settings with %s keep nothing of ours out", (_name, text) => {
  write("repo/.claude/settings.json", text);
  expect(Object.keys(commandsOf())).toEqual(["Stop", "PostToolUse"]);
});

test.each([[["--settings", "mine.json"]], [["--settings=mine.json"]]])(
  "an operator's own %j stands alone",
  (args) => {
    const all = argumentsOf({ agent: { ...LAUNCH.agent, args } });
    expect(all.filter((argument) => argument.startsWith("--settings"))).toEqual([args[0]]);
    expect(all.slice(-args.length)).toEqual(args);
  },
);
