/** A command line for the system's own shell, as a program and its arguments. */
export interface ShellCommand {
  readonly command: readonly string[];
  /** The arguments go to the program as they stand: its own rules of quoting are not those of other programs. */
  readonly isVerbatim: boolean;
}

/** What reads a command line that a person has written: a gate, a set-up, a command for notices. */
export function shellCommand(platform: NodeJS.Platform, line: string): ShellCommand {
  return platform === "win32"
    ? { command: ["cmd.exe", "/d", "/s", "/c", `"${line}"`], isVerbatim: true }
    : { command: ["sh", "-c", line], isVerbatim: false };
}
