/**
 * A program that keeps the machine awake; null where we know none. Each ends by itself when we are gone, in whatever way:
 * one watches our process id, the others read our pipe.
 */
export function keepAwakeCommand(platform: NodeJS.Platform, pid: number): readonly string[] | null {
  switch (platform) {
    case "linux": {
      const what = ["--what=idle:sleep", "--who=ralph", "--why=an agent is at work", "--mode=block"];
      return ["systemd-inhibit", ...what, "cat"];
    }
    case "darwin":
      return ["caffeinate", "-i", "-w", String(pid)];
    case "win32":
      return ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", POWERSHELL];
    default:
      return null;
  }
}

/** The system is required, until the thread that said so is gone. */
const POWERSHELL = [
  `$power = Add-Type -PassThru -Namespace Ralph -Name Power -MemberDefinition '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'`,
  "[void]$power::SetThreadExecutionState([uint32]2147483649)",
  "[void][Console]::In.ReadToEnd()",
].join("; ");
