import type { GateRest } from "../gate-definition.ts";
import { programAt } from "./find-program.ts";
import { interpreterOf, scriptArgument, shellText } from "./interpreter.ts";
import { makeRun } from "./make-run.ts";
import { isPackageManager, packageRun } from "./package-run.ts";
import { shellParts, type Word } from "./shell-words.ts";

/** A shell in a shell in a shell is deep enough. */
const DEPTH_MAX = 3;
const PATH_LENGTH_MAX = 4_096;

/** What the words of a command name, in their order. `folder` is null when nobody knows where it runs. */
export function* readRests(command: string, folder: string | null, depth = 0): Generator<GateRest> {
  const folders = [folder];
  for (const part of shellParts(command)) {
    if (part.is === "open") folders.push(folders.at(-1) ?? null);
    else if (part.is === "close") {
      if (folders.length > 1) folders.pop();
    } else {
      const here = folders.at(-1) ?? null;
      const [program, ...args] = part.words.slice(programAt(part.words));
      if (program === undefined || !program.isKnown) continue;
      if (program.text === "cd") folders[folders.length - 1] = behind(here, args[0]);
      else yield* restsOfCommand(program.text, args, here, depth);
    }
  }
}

function behind(folder: string | null, to: Word | undefined): string | null {
  return to === undefined || !to.isKnown ? null : placeOf(folder, to.text);
}

function* restsOfCommand(
  program: string,
  args: readonly Word[],
  folder: string | null,
  depth: number,
): Generator<GateRest> {
  const interpreter = interpreterOf(program);
  if (interpreter !== null) yield* restsOfInterpreter(interpreter, args, folder, depth);
  else if (isPackageManager(program)) yield* restsOfPackage(program, args, folder);
  else if (program === "make" || program === "gmake") yield* restsOfMake(args, folder);
  else if (SCRIPT_RUNNERS.has(program)) yield* restsOfRunner(args, folder);
  else if (program === "concurrently") yield* restsOfConcurrently(args, folder, depth);
  else yield* fileRest(program, folder);
}

function* restsOfInterpreter(
  interpreter: string,
  args: readonly Word[],
  folder: string | null,
  depth: number,
): Generator<GateRest> {
  const script = scriptArgument(interpreter, args);
  if (script !== null) return yield* fileRest(script, folder);
  const text = shellText(interpreter, args);
  if (text !== null && depth < DEPTH_MAX) yield* readRests(text, folder, depth + 1);
  const run = interpreter === "node" ? args.findIndex((word) => word.text === "--run") : -1;
  const name = run < 0 ? undefined : args[run + 1];
  if (name?.isKnown) yield* npmRest(folder, ".", name.text);
}

function* restsOfPackage(program: string, args: readonly Word[], folder: string | null): Generator<GateRest> {
  const run = packageRun(program, args);
  if (run === null) return;
  if (program === "bun" && SCRIPT_NAME.test(run.script)) yield* fileRest(run.script, folder);
  else yield* npmRest(folder, run.folder, run.script);
}

function* restsOfMake(args: readonly Word[], folder: string | null): Generator<GateRest> {
  const run = makeRun(args);
  const path = run === null ? null : placeOf(placeOf(folder, run.folder), run.file);
  if (run === null || path === null) return;
  for (const target of run.targets) yield { is: "make-target", path, target };
}

const SCRIPT_RUNNERS = new Set(["npm-run-all", "npm-run-all2", "run-s", "run-p"]);

function* restsOfRunner(args: readonly Word[], folder: string | null): Generator<GateRest> {
  for (const { text, isKnown } of args) {
    if (text === "--") return;
    // "lint -- --fix" is one argument: a script and what it is given.
    const [script = ""] = text.split(" ", 1);
    if (isKnown && script !== "" && !script.startsWith("-")) yield* npmRest(folder, ".", script);
  }
}

function* restsOfConcurrently(
  args: readonly Word[],
  folder: string | null,
  depth: number,
): Generator<GateRest> {
  for (const { text, isKnown } of args) {
    if (!isKnown || text.startsWith("-")) continue;
    if (text.startsWith("npm:")) yield* npmRest(folder, ".", text.slice(4).split(" ", 1)[0] ?? "");
    else if (text.includes(" ") && depth < DEPTH_MAX) yield* readRests(text, folder, depth + 1);
  }
}

function* npmRest(folder: string | null, inside: string, script: string): Generator<GateRest> {
  const path = placeOf(placeOf(folder, inside), "package.json");
  if (path !== null) yield { is: "npm-script", path, script };
}

const SCRIPT_NAME = /\/|\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|php)$/;
/** What was installed is not the project's own; patterns are no names. */
const NOT_OWN = /(?:^|\/)(?:node_modules|\.venv|venv|vendor)\/|[*?[\]{}\n]/;

function* fileRest(name: string, folder: string | null): Generator<GateRest> {
  if (!SCRIPT_NAME.test(name) || name.endsWith("/") || NOT_OWN.test(name)) return;
  const path = placeOf(folder, name);
  if (path !== null && path !== "") yield { is: "file", path };
}

/** A path below the root, "" for the root itself; null when it leads out of it or cannot be known. */
export function placeOf(folder: string | null, path: string): string | null {
  if (folder === null || /^[/~]/.test(path) || folder.length + path.length > PATH_LENGTH_MAX) return null;
  const steps: string[] = [];
  for (const step of `${folder}/${path}`.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") steps.push(step);
    else if (steps.pop() === undefined) return null;
  }
  return steps.join("/");
}
