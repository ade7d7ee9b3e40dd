import { spawn } from "node:child_process";
import { treeEnd } from "./platform/process-tree.ts";
import { THIS_PLATFORM } from "./platform/this-platform.ts";

export type EndSignal = "SIGTERM" | "SIGKILL";

/** Ends a process that we started in a tree of its own, with all of that. */
export function endTree(leader: number, signal: EndSignal): void {
  tellToEnd(-leader, signal);
}

/** To a process or, below zero, to a group. That it is gone already, or not ours to end, is no error. */
export function tellToEnd(target: number, signal: EndSignal): void {
  const end = treeEnd(THIS_PLATFORM, target, signal === "SIGKILL");
  if ("command" in end) return run(end.command);
  try {
    process.kill(end.target, signal);
    // One that is stopped hears of it only when it goes on.
    if (signal === "SIGTERM") process.kill(end.target, "SIGCONT");
  } catch {
    // The next look round tells.
  }
}

/** Whether it could do anything, the next look round tells too. */
function run([program = "", ...args]: readonly string[]): void {
  spawn(program, args, { stdio: "ignore", windowsHide: true }).on("error", () => {});
}
