import { spawn } from "node:child_process";
import { RalphError } from "../../core/ralph-error.ts";
import { stripEscapes } from "../../core/report/strip-escapes.ts";

/** One thing that was looked at; `advice` says what to do when it is not well. */
export interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
}

export function problem(name: string, error: unknown): Finding {
  if (!(error instanceof RalphError)) throw error;
  return { name, well: false, found: error.message, advice: error.hint ?? null };
}

const PATIENCE_MS = 15_000;
const OUTPUT_MAX = 64 * 1024;

/** What a program prints, as plain text; null when it does not, or not in time. Nothing of it is left running. */
export function output(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  patienceMs = PATIENCE_MS,
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    const finish = (isGood: boolean): void => {
      clearTimeout(timer);
      endGroup(child.pid);
      child.stdout.destroy();
      const said = stripEscapes(text).trim();
      resolve(isGood && said !== "" ? said : null);
    };
    const timer = setTimeout(() => finish(false), patienceMs);
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      if (text.length < OUTPUT_MAX) text += more;
    });
    child.on("error", () => finish(false));
    // Its children may hold the output open for ever; what it printed itself is there by then.
    child.on("exit", (code) => setImmediate(() => finish(code === 0)));
  });
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch {
    // nobody is left
  }
}
