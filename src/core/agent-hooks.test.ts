import { expect, test } from "vitest";
import { callsSameHook, claudeHooks, shellWord } from "./agents.ts";

test("Claude Code asks us before it stops, and after each tool", () => {
  const call = (hook: string) => ({ type: "command", command: `/opt/ralph hook ${hook}` });
  expect(claudeHooks("/opt/ralph")).toEqual([
    { event: "Stop", entry: { hooks: [call("stop")] } },
    { event: "PostToolUse", entry: { matcher: "*", hooks: [call("post-tool-use")] } },
  ]);
});

const OURS = "/opt/ralph hook stop";

test.each([
  OURS,
  "ralph hook stop",
  "/other/place/ralph hook stop",
  '"/a place/ralph" hook stop',
  "'/a place/ralph' hook stop",
  "env X=1 ralph  hook stop",
])("%s is the same hook", (command) => {
  expect(callsSameHook(command, OURS)).toBe(true);
});

test.each([
  "",
  "ralph hook post-tool-use",
  "ralph status",
  "notralph hook stop",
  "ralphex hook stop",
  "hook stop",
  "echo done",
])("%s is another", (command) => {
  expect(callsSameHook(command, OURS)).toBe(false);
});

test.each([
  ["/opt/ralph", "/opt/ralph"],
  ["a@b:c+d-e.f", "a@b:c+d-e.f"],
  ["a place", "'a place'"],
  ["it's", String.raw`'it'\''s'`],
  ["", "''"],
  ["$HOME", "'$HOME'"],
])("%s is one word for a shell: %s", (text, word) => {
  expect(shellWord(text)).toBe(word);
});
