import { expect, test } from "vitest";
import type { Notice } from "../../../core/notices/notice.ts";
import { desktopCommand, desktopProgram } from "./desktop-command.ts";

const notice: Notice = {
  id: "r-1",
  position: 1,
  kind: "decide",
  at: 0,
  run: null,
  task: null,
  text: "a asks: <b>$(rm -rf /)</b> & `x`\0?",
  command: "ralph inbox",
  event: null,
};

test.each([
  ["linux", "notify-send"],
  ["freebsd", "notify-send"],
  ["darwin", "osascript"],
  ["win32", "powershell.exe"],
  ["aix", null],
] as const)("%s uses %s", (platform, program) => {
  expect(desktopProgram(platform)).toBe(program);
});

test("on Linux the text is an argument, and no markup", () => {
  const command = desktopCommand("linux", { ...notice, text: `--help ${notice.text}` }, "shop");
  expect(command?.args).toEqual([
    "--app-name=ralph",
    "--urgency=critical",
    "--",
    "ralph · shop",
    "--help a asks: &lt;b&gt;$(rm -rf /)&lt;/b&gt; &amp; `x` ?\n→ ralph inbox",
  ]);
});

test("on a Mac the text is an argument of the script, not part of it", () => {
  const args = desktopCommand("darwin", notice, "shop")?.args ?? [];
  expect(args.slice(args.indexOf("--") + 1)).toEqual([
    "ralph · shop",
    "a asks: <b>$(rm -rf /)</b> & `x` ?\n→ ralph inbox",
  ]);
  expect(args.slice(0, args.indexOf("--")).join("\n")).not.toContain("asks");
});

test("on Windows the text is in variables, and the script is always the same", () => {
  const command = desktopCommand("win32", notice, "shop");
  expect(command?.env).toEqual({
    RALPH_NOTICE_TITLE: "ralph · shop",
    RALPH_NOTICE_BODY: "a asks: <b>$(rm -rf /)</b> & `x` ?\n→ ralph inbox",
  });
  expect(command?.args).toEqual(desktopCommand("win32", { ...notice, text: "other" }, "x")?.args);
});

test("a long text is cut", () => {
  const args = desktopCommand("linux", { ...notice, text: "x".repeat(10_000) }, "shop")?.args;
  expect(args?.at(-1)?.length).toBeLessThan(600);
});
