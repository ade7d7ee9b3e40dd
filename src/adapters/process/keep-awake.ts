import { spawn, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { endTree } from "./process-sweep.ts";

export interface KeepAwake {
  /** From the first call on, if the system has a program for it; that it has none is no error. */
  hold(): void;
  release(): void;
}

export interface KeepAwakeOptions {
  /** Where the program is looked for. */
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
}

export function createKeepAwake({ path, env, platform = process.platform }: KeepAwakeOptions): KeepAwake {
  let held: ChildProcess | "nothing" | null = null;
  return {
    hold() {
      held ??= start(KEEP_AWAKE[platform], { ...busOf(env), PATH: path }) ?? "nothing";
    },
    release() {
      if (held !== null && held !== "nothing") end(held);
      held = "nothing";
    },
  };
}

/** Programs that keep the machine awake. Each ends by itself when we are gone. */
const KEEP_AWAKE: { readonly [platform in NodeJS.Platform]?: readonly string[] } = {
  linux: [
    "systemd-inhibit",
    "--what=idle:sleep",
    "--who=ralph",
    "--why=an agent is at work",
    "--mode=block",
    "cat",
  ],
  darwin: ["caffeinate", "-i", "-w", String(process.pid)],
};

/** In a session of its own, so that it belongs to no agent and hears no Ctrl-C; nobody waits for it. */
function start(command: readonly string[] | undefined, env: NodeJS.ProcessEnv): ChildProcess | null {
  if (command === undefined) return null;
  const [program = "", ...args] = command;
  try {
    const child = spawn(program, args, {
      cwd: "/",
      env,
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.on("error", () => {}); // not installed
    child.stdin.on("error", () => {}); // gone already: the system did not let it
    child.unref();
    (child.stdin as Socket).unref();
    return child;
  } catch {
    return null; // no room for another process
  }
}

function end({ stdin, pid, exitCode, signalCode }: ChildProcess): void {
  stdin?.destroy();
  const isGone = pid === undefined || exitCode !== null || signalCode !== null;
  if (isGone) return; // its id may be another's by now
  endTree(pid, "SIGTERM");
}

/** It asks the system itself; nothing else of the environment, which may hold secrets, is its business. */
function busOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { DBUS_SYSTEM_BUS_ADDRESS: bus } = env;
  return bus === undefined ? {} : { DBUS_SYSTEM_BUS_ADDRESS: bus };
}
