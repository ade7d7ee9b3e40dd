import type { WantedHook } from "../../core/agents.ts";
import { expect, test } from "vitest";
import { withHooks } from "./init.ts";

const STOP: WantedHook = {
  event: "Stop",
  entry: { hooks: [{ type: "command", command: "ralph hook stop" }] },
};
const TOOL: WantedHook = {
  event: "PostToolUse",
  entry: { matcher: "*", hooks: [{ type: "command", command: "ralph hook post-tool-use" }] },
};

function merge(text: string, renew = false): string | null {
  return withHooks(text, "settings.json", [STOP, TOOL], renew);
}

test("without settings there are only ours", () => {
  expect(merge("")).toBe(`{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ralph hook stop"
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "ralph hook post-tool-use"
          }
        ]
      }
    ]
  }
}
`);
});

test.each([
  ["spaces", '{\n    "b": 1,\n    "permissions": { "allow": ["Bash(ls)"] },\n    "a": "é"\n}'],
  ["tabs", '{\n\t"b": [1, 2],\n\t"10": 1\n}\n'],
  ["Windows lines", '{\r\n  "b": 1\r\n}\r\n'],
  ["a byte order mark", '\uFEFF{\n  "b": 1\n}\n'],
  ["one line", '{"b": 1, "hooks": {}}'],
  ["an empty object", "{ }\n"],
  ["other hooks", '{\n  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "beep" }] }] }\n}\n'],
  ["an empty list", '{\n  "hooks": {\n    "Stop": []\n  },\n  "z": 1\n}\n'],
])("settings with %s keep every byte they had, in its order", (_name, text) => {
  const merged = merge(text) ?? "";
  let at = 0;
  for (const character of text.replaceAll(/\s/g, "")) {
    at = merged.indexOf(character, at) + 1;
    expect(at).toBeGreaterThan(0);
  }
  for (const line of text.split(/\r?\n/).filter((one) => /^\s+"\w/.test(one) && !/hooks|Stop/.test(one)))
    expect(merged).toContain(line.replace(/\s*$/, ""));
  expect(merged.includes("\r\n")).toBe(text.includes("\r\n"));
  expect(merged.replaceAll("\r\n", "").includes("\n") && text.includes("\r\n")).toBe(false);
  const { hooks } = JSON.parse(merged.replace(/^\uFEFF/, "")) as { hooks: Record<string, unknown[]> };
  expect(hooks["Stop"]?.at(-1)).toEqual(STOP.entry);
  expect(hooks["PostToolUse"]).toEqual([TOOL.entry]);
  expect(merge(merged)).toBeNull();
});

test("the indentation of the file is the indentation of ours", () => {
  expect(merge('{\n\t"b": 1\n}\n')).toContain('\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{\n');
  expect(merge('{\n    "b": 1\n}\n')).toContain('\n    "hooks": {\n        "Stop": [\n            {\n');
});

test.each(["/opt/ralph/bin/ralph hook stop", "'/a b/bin/ralph' hook stop", "cd x && ralph hook stop"])(
  "a hook that is called as %s is there already, and renewed only if that is asked for",
  (command) => {
    const there = merge("")?.replace("ralph hook stop", command) ?? "";
    expect(merge(there)).toBeNull();
    expect(merge(there, true)).toBe(merge(""));
  },
);

test("a hook of somebody else that sounds like ours is not ours", () => {
  const others = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notralph hook stop"}]}]}}';
  expect(merge(others)).toContain("ralph hook post-tool-use");
  expect(merge(others)?.match(/hook stop/g)).toHaveLength(2);
});

test.each([
  ["not JSON", '{\n  "b": 1,\n}', "settings.json:3: this is not JSON"],
  ["a comment", "{ // mine\n}", "settings.json:1: this is not JSON"],
  ["a list", "[]", "expected an object"],
  ["hooks that are no object", '{"hooks": []}', 'expected an object under "hooks"'],
  ["an event that is no list", '{"hooks": {"Stop": {}}}', 'expected a list under "hooks.Stop"'],
])("settings that are %s are refused with the place", (_name, text, message) => {
  expect(() => merge(text)).toThrow(message);
});
