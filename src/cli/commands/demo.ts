import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { ownCommand } from "../../compose.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import type { Act, CliContext } from "../commands.ts";
import { DEMO_ANSWER, DEMO_FILES } from "../demo/sample-project.ts";
import { driveRun } from "../drive-run.ts";
import { prepareRun } from "../prepare-run.ts";
import { plainPrinter, terminalPrinter } from "../print/run-printer.ts";
import { styleFor } from "../print/style.ts";

const READING_PAUSE_MS = 1_500;

export function define(command: Command, act: Act): void {
  command.action(() => act(demo));
}

/** A whole loop with the built-in agent in a repository of its own; what the person would answer, it answers itself. */
async function demo(context: CliContext): Promise<number> {
  const folder = makeSampleRepository();
  const say = (text = ""): void => void context.stdout.write(`${text}\n`);
  say(`A small JavaScript library with four tasks, in ${folder}`);
  say(
    "The agent is a scripted one: it lies once, breaks a test once, and asks a question. Watch what is believed.",
  );
  say();
  const inside = { ...context, cwd: folder, dir: undefined };
  let exitCode = await runInside(inside);
  if (exitCode === EXIT_CODES.undecided) {
    say();
    say(`Ralph has stopped, because only a person can decide this (exit code ${exitCode}).`);
    say(`The demo answers for you, below the question in .ralph/decide.txt: "${DEMO_ANSWER}"`);
    if (context.stdout.isTTY) await delay(READING_PAUSE_MS);
    appendFileSync(join(folder, ".ralph", "decide.txt"), `${DEMO_ANSWER}\n`);
    say();
    exitCode = await runInside(inside);
  }
  say();
  const ralph = ownCommand(context.cwd, context.env);
  say("Look round:");
  say(`  cd ${folder}`);
  say(`  ${ralph} why parse-date   # what was decided, and from what`);
  say(`  ${ralph} web              # all of it in a browser`);
  say(`  ${ralph} history          # each iteration`);
  return exitCode;
}

async function runInside(context: CliContext): Promise<number> {
  const inside = { ...context, env: withoutOwnSettings(context.env) };
  const prepared = await prepareRun(undefined, {}, inside);
  const style = styleFor(context.stdout, context.env);
  const printer = context.stdout.isTTY
    ? terminalPrinter(context.stdout, style)
    : plainPrinter((text) => context.stdout.write(text), style);
  return driveRun({
    ...prepared,
    context: inside,
    printer,
    allowDirty: false,
    keepAwake: false,
    summary: true,
    suggests: false,
    verbose: false,
  });
}

function makeSampleRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-demo-"));
  for (const [path, text] of Object.entries(DEMO_FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: string[]): void => {
    const identity = [
      "-c",
      "user.name=Demo",
      "-c",
      "user.email=demo@localhost",
      "-c",
      "commit.gpgsign=false",
    ];
    execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "pipe" });
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--no-verify", "--message", "A small library with four tasks to do");
  return folder;
}

/** The demo is the same whatever the person has set for their own work. */
function withoutOwnSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("RALPH_")));
}
