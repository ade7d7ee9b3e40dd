import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RALPH, type Finished } from "./project.ts";

export interface HookCall {
  /** Objects are sent as JSON, texts as they are. */
  readonly input?: object | string;
  /** Below the folder. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** A folder in which an agent works and calls our hooks, and in which these find all that they keep. */
export interface HookFolder {
  readonly root: string;
  write(path: string, content: unknown): string;
  call(event: string, call?: HookCall): Promise<Finished>;
  /** The answer of a call that ended well. */
  ask(event: "stop" | "post-tool-use", call?: HookCall): Promise<HookAnswer>;
  dispose(): void;
}

export interface HookAnswer {
  readonly decision?: "approve" | "block";
  readonly reason?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

export function createHookFolder(): HookFolder {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "ralph-test-")));
  const root = join(top, "work");
  const temporary = join(top, "tmp");
  mkdirSync(root);
  mkdirSync(temporary);
  const folder: HookFolder = {
    root,
    write(path, content) {
      const place = join(root, path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, typeof content === "string" ? content : JSON.stringify(content));
      return place;
    },
    async call(event, { input = {}, cwd = "", env = {}, args = [] } = {}) {
      const child = spawn(RALPH, ["hook", ...(event === "" ? [] : [event]), ...args], {
        cwd: join(root, cwd),
        env: { PATH: process.env["PATH"] ?? "", HOME: top, TMPDIR: temporary, ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
      const output = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
      // One that did not care for it may be gone already.
      child.stdin.on("error", () => {});
      child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
      const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
      return { code, signal, ...output };
    },
    async ask(event, call) {
      const { code, stdout, stderr } = await folder.call(event, call);
      if (code !== 0 || stderr !== "") throw new Error(`the hook ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as HookAnswer;
    },
    dispose: () => rmSync(top, { recursive: true, force: true }),
  };
  return folder;
}
