// The built-in demo agent: reads a prompt from stdin and does what its script says, without network or key. It
// exists to show Ralph and to test it, so it can also lie, hang, crash and leave a mess.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  demoSteps,
  parseDemoScript,
  type DemoStep,
  type DemoSteps,
  type FileText,
} from "./core/demo/demo-script.ts";
import { isReading } from "./core/loop/stages.ts";
import { demoPlan, demoUsageLine } from "./core/demo/demo-usage.ts";

const BLOCK_BYTES = 64 * 1024;
const LINES = Buffer.alloc(BLOCK_BYTES, "the agent has a lot to say about very little in this line of 64 \n");
const WORDS = Buffer.alloc(BLOCK_BYTES, "word ");

const PROMPT_WAIT_MS = 10_000;

let isAtLineStart = true;

/** With `--messages` the prompt is the first of them, and stdin stays open for more. */
const messages = process.argv.includes("--messages")
  ? createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  : null;

process.exitCode = await main();
// An open stdin would keep us alive.
await messages?.return?.();
process.stdin.destroy();

async function main(): Promise<number> {
  const prompt = await readPrompt();
  if (prompt === null) return fail("the prompt did not come", 2);
  let steps: DemoSteps;
  try {
    steps = readSteps(prompt);
  } catch (error) {
    return fail((error as Error).message, 2);
  }
  for (const step of steps) {
    const exitCode = await perform(step, prompt);
    if (exitCode !== null) return exitCode;
  }
  return 0;
}

function fail(why: string, exitCode: number): number {
  console.error(`demo agent: ${why}`);
  return exitCode;
}

async function nextMessage(withinMs: number): Promise<string | null> {
  const next = messages?.next().then(({ done, value }) => (done === true ? null : String(JSON.parse(value))));
  return Promise.race([next ?? null, sleep(withinMs, null, { ref: false })]);
}

async function readPrompt(): Promise<string | null> {
  if (messages !== null) return nextMessage(PROMPT_WAIT_MS);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function readSteps(prompt: string): DemoSteps {
  const path = process.env["RALPH_DEMO_SCRIPT"];
  if (path === undefined || path === "") return stepsWithoutScript(prompt);
  try {
    const script = parseDemoScript(readFileSync(path, "utf8"));
    const ordinal = Number(process.env["RALPH_ITERATION"] ?? "1");
    const number = Number(process.env["RALPH_ITERATION_NUMBER"] ?? "1");
    const task = process.env["RALPH_TASK_ID"] ?? "";
    return demoSteps(script, task, { number, ordinal }) ?? stepsWithoutScript(prompt);
  } catch (error) {
    throw new Error(`cannot use the script ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function stepsWithoutScript(prompt: string): DemoSteps {
  if (process.env["RALPH_STAGE"] === "plan") {
    const path = `${process.env["RALPH_DIR"] ?? ".ralph"}/tasks.json`;
    return [{ write: { path, text: demoPlan(prompt) } }, { say: "I made a story of each item." }];
  }
  const title =
    /^- \*\*Title\*\*: (.+)$/m.exec(prompt)?.[1]?.trim() ?? process.env["RALPH_TASK_ID"] ?? "a task";
  const promise = /^\s*<promise>(.+)<\/promise>\s*$/m.exec(prompt)?.[1] ?? "COMPLETE";
  if (isReading({}, process.env["RALPH_STAGE"] ?? ""))
    return [{ say: `REVIEW PASSED: "${title}" is in DEMO.md.` }, { promise }];
  return [
    { append: { path: "DEMO.md", text: `- ${title}\n` } },
    { say: "I wrote the task into DEMO.md." },
    { promise },
  ];
}

/** Does one step; an exit code ends the agent there. */
async function perform(step: DemoStep, prompt: string): Promise<number | null> {
  if ("say" in step) await print(`${step.say}\n`);
  else if ("write" in step) putFile(step.write, writeFileSync);
  else if ("append" in step) putFile(step.append, appendFileSync);
  else if ("remove" in step) rmSync(step.remove, { recursive: true, force: true });
  else if ("shell" in step) return runProgram("sh", ["-c", step.shell]);
  else if ("commit" in step) return commit(step.commit);
  else if ("promise" in step) await printTag(step.promise);
  else if ("usage" in step) await print(`${demoUsageLine(step.usage)}\n`);
  else if ("blocked" in step) await printTag(`BLOCKED:${step.blocked}`);
  else if ("decide" in step) await printTag(`DECIDE:${step.decide}`);
  else if ("sleep" in step) await sleep(step.sleep);
  else if ("awaitMessage" in step) await awaitMessage(step.awaitMessage);
  else if ("hang" in step) await hang();
  else if ("ignoreTerm" in step) process.on("SIGTERM", () => {});
  else if ("crash" in step) return fail(`crashing with exit code ${step.crash}`, step.crash);
  else if ("killSelf" in step) {
    process.kill(process.pid, step.killSelf);
    await hang();
  } else if ("flood" in step) await printBytes(step.flood, (length) => LINES.subarray(0, length));
  else if ("longLine" in step) await printBytes(step.longLine, (length) => WORDS.subarray(0, length));
  else if ("garbage" in step) await printBytes(step.garbage, createGarbage());
  else if ("leave" in step) leave(step.leave);
  else if ("echoPrompt" in step) await print(`${prompt}\n`);
  else if (!prompt.includes(step.expectPrompt)) return fail(`the prompt lacks "${step.expectPrompt}"`, 3);
  return null;
}

async function print(output: string | Buffer): Promise<void> {
  isAtLineStart = output.at(-1) === (typeof output === "string" ? "\n" : 10);
  if (!process.stdout.write(output)) await once(process.stdout, "drain");
}

/** On a line of its own, whatever came before. */
async function printTag(text: string): Promise<void> {
  await print(`${isAtLineStart ? "" : "\n"}<promise>${text}</promise>\n`);
}

function putFile({ path, text }: FileText, put: (path: string, text: string) => void): void {
  mkdirSync(dirname(path), { recursive: true });
  put(path, text);
}

function runProgram(program: string, args: readonly string[]): number | null {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) return fail(`cannot run ${program}: ${error.message}`, 1);
  return status === 0 ? null : (status ?? 1);
}

function commit(message: string): number | null {
  const settings = ["user.name=Demo Agent", "user.email=demo@ralph.invalid", "commit.gpgsign=false"];
  const identity = settings.flatMap((setting) => ["-c", setting]);
  return runProgram("git", ["add", "-A"]) ?? runProgram("git", [...identity, "commit", "-m", message]);
}

async function awaitMessage(withinMs: number): Promise<void> {
  const message = await nextMessage(withinMs);
  await print(message === null ? "Nobody told me anything.\n" : `I was told: ${message}\n`);
}

async function hang(): Promise<never> {
  for (;;) await sleep(60_000);
}

/** Gives the next so many bytes. */
type Fill = (length: number) => Buffer;

async function printBytes(bytes: number, fill: Fill): Promise<void> {
  for (let left = bytes; left > 0; left -= BLOCK_BYTES) await print(fill(Math.min(left, BLOCK_BYTES)));
}

/** Bytes of every value, the same in every run. */
function createGarbage(): Fill {
  let state = 1;
  return (length) => {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      bytes[at] = state >>> 24;
    }
    return bytes;
  };
}

function leave(kind: "child" | "setsid" | "stubborn"): void {
  const script = kind === "stubborn" ? "trap '' TERM; sleep 3600" : "exec sleep 3600";
  const child = spawn("sh", ["-c", script], {
    detached: kind === "setsid",
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.unref();
}
