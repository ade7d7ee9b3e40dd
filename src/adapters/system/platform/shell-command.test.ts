import { expect, test } from "vitest";
import { shellCommand } from "./shell-command.ts";

const LINE = `npm test -- "a b" && echo 'ok'`;

test.each(["linux", "darwin", "freebsd"] as const)(
  "%s has sh, which gets the line as one argument",
  (platform) => {
    expect(shellCommand(platform, LINE)).toEqual({ command: ["sh", "-c", LINE], isVerbatim: false });
  },
);

test("Windows has cmd, which takes off the outer quotes and reads the rest as it stands", () => {
  expect(shellCommand("win32", LINE)).toEqual({
    command: ["cmd.exe", "/d", "/s", "/c", `"${LINE}"`],
    isVerbatim: true,
  });
});
