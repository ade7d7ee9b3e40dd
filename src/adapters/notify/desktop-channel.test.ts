import { expect, test } from "vitest";
import type { Notice } from "../../core/views/notice.ts";
import { desktopCommand } from "./desktop-channel.ts";

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

test("on Linux the text is an argument, and no markup", () => {
  expect(desktopCommand("linux", { ...notice, text: `--help ${notice.text}` }, "shop")).toEqual([
    "notify-send",
    "--app-name=ralph",
    "--urgency=critical",
    "--",
    "ralph · shop",
    "--help a asks: &lt;b&gt;$(rm -rf /)&lt;/b&gt; &amp; `x` ?\n→ ralph inbox",
  ]);
});

test("on a Mac the text is an argument of the script, not part of it", () => {
  const command = desktopCommand("darwin", notice, "shop");
  expect(command[0]).toBe("osascript");
  expect(command.slice(command.indexOf("--") + 1)).toEqual([
    "ralph · shop",
    "a asks: <b>$(rm -rf /)</b> & `x` ?\n→ ralph inbox",
  ]);
  expect(command.slice(0, command.indexOf("--")).join("\n")).not.toContain("asks");
});

test("a long text is cut", () => {
  const command = desktopCommand("linux", { ...notice, text: "x".repeat(10_000) }, "shop");
  expect(command.at(-1)?.length).toBeLessThan(600);
});
