import type { ReadStream } from "node:tty";
import type { Follower, Log } from "../engine/ports.ts";

const CTRL_C = "\u0003";

/** While a run waits at a terminal, the key `r` ends the wait. */
export interface RetryKey extends Follower {
  /** Gives the keyboard back. */
  rest(): void;
}

export function listenForRetry(stdin: ReadStream, log: Log): RetryKey {
  let run: string | null = null;
  const onKey = (keys: Buffer): void => {
    const text = keys.toString();
    if (text.includes(CTRL_C)) process.kill(process.pid, "SIGINT");
    else if (text.toLowerCase().includes("r") && run !== null)
      void log.append([{ type: "retry.requested", run }]).catch(() => {}); // the wait goes on, and ends by itself
  };
  const rest = (): void => {
    if (run === null) return;
    run = null;
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const listen = (waiting: string): void => {
    if (!stdin.isTTY || run !== null) return;
    run = waiting;
    stdin.setRawMode(true);
    stdin.on("data", onKey);
    stdin.resume();
  };
  return {
    follow(event) {
      if (event.type === "wait.started") listen(event.run);
      else if (["iteration.started", "retry.requested", "run.ended"].includes(event.type)) rest();
      return Promise.resolve();
    },
    rest,
  };
}
