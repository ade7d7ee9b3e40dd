import { expect, test } from "vitest";
import { keepAwakeCommand } from "./keep-awake-command.ts";

test("Linux asks systemd, for as long as a program reads our pipe", () => {
  const command = keepAwakeCommand("linux", 7) ?? [];
  expect(command[0]).toBe("systemd-inhibit");
  expect(command).toContain("--what=idle:sleep");
  expect(command.at(-1)).toBe("cat");
});

test("macOS has caffeinate, which watches our process", () => {
  expect(keepAwakeCommand("darwin", 7)).toEqual(["caffeinate", "-i", "-w", "7"]);
});

test("Windows is told by PowerShell, which ends when our pipe does", () => {
  const command = keepAwakeCommand("win32", 7) ?? [];
  expect(command[0]).toBe("powershell.exe");
  expect(command.at(-1)).toMatch(/SetThreadExecutionState\(\[uint32\]2147483649\).*ReadToEnd\(\)$/);
});

test("of others nobody knows how", () => {
  expect(keepAwakeCommand("aix", 7)).toBeNull();
});
