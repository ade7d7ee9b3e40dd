import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, ownCommand, safePath, type Project } from "../../compose.ts";
import { claudeHooks, shellWord, type WantedHook } from "../../core/agent-hooks.ts";
import type { CliContext } from "../commands.ts";
import { withHooks } from "./hook-settings.ts";
import type { InitReport } from "./init-report.ts";

/** The hooks of a project, read and thought through; nothing is written before that. */
export interface HookEdits {
  readonly files: readonly HookFile[];
  readonly notes: readonly string[];
}

interface HookFile {
  /** Relative to the root. */
  readonly path: string;
  readonly real: string;
  /** The new text; null when our hooks are there already. */
  readonly text: Buffer | null;
}

/** Our hooks in the project's own settings of the agents that read such. A damaged file is an error. */
export function readHooks(
  project: Project,
  { cwd, env }: CliContext,
  { agent, renew }: { readonly agent: string | null; readonly renew: boolean },
): HookEdits {
  const ralph = shellWord(ownCommand(cwd, env));
  const isUsed = (name: string): boolean => agent === name || existsSync(join(project.root, `.${name}`));
  const settings: readonly (readonly [path: string, hooks: readonly WantedHook[]])[] = [
    [".claude/settings.json", claudeHooks(ralph)],
    ...(isUsed("gemini") ? [[".gemini/settings.json", geminiHooks(ralph)] as const] : []),
  ];
  const files = settings.map(([path, hooks]) => {
    const real = safePath(project.root, path);
    const file = existsSync(real) ? readFileSync(real) : Buffer.alloc(0);
    return { path, real, text: withHooks(file, path, hooks, renew) };
  });
  const usesCodex = isUsed("codex") || findProgram("codex", project.root, env) !== null;
  const notes = [
    ...(ralph === "ralph" ? [] : [`the hooks call ${ralph}, which only this machine has there`]),
    ...(usesCodex ? ["codex is left out: it runs hooks only with a flag that trusts all of them"] : []),
  ];
  return { files, notes };
}

/** Writes what is new; answers those files. */
export function writeHooks({ files, notes }: HookEdits, report: InitReport): readonly string[] {
  for (const { real, text } of files) {
    if (text === null) report.kept(real);
    else report.replace(real, text, "ralph is asked before the agent stops");
  }
  for (const note of notes) report.say(`note   ${note}`);
  return files.filter(({ text }) => text !== null).map(({ path }) => path);
}

/** Its event for the same moment has another name. */
function geminiHooks(ralph: string): readonly WantedHook[] {
  const hook = { name: "ralph", type: "command", command: `${ralph} hook stop` };
  return [{ event: "AfterAgent", entry: { hooks: [hook] } }];
}
