import { join } from "node:path";
import { callsSameHook, claudeHooks, shellWord, type WantedHook } from "../../../core/agent-hooks.ts";
import { fieldsOf, listOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import { readSmallFile } from "../../system/read-end.ts";
import type { Launch } from "../agent-adapter.ts";
import { claudeFolder } from "./claude-folder.ts";

/** Our hooks, without those that its own settings have already: it would run them twice. */
export function hookArguments({ agent, ownProgram, workspace, env }: Launch): readonly string[] {
  // Of several such arguments it takes the last alone.
  if (agent.args.some((argument) => /^--settings(?:=|$)/.test(argument))) return [];
  const settings = [
    join(workspace, ".claude", "settings.json"),
    join(workspace, ".claude", "settings.local.json"),
    join(claudeFolder(env), "settings.json"),
  ].map(hooksIn);
  const wanted = claudeHooks(ownProgram.map(shellWord).join(" ")).filter(
    (hook) => !settings.some((hooks) => has(hooks, hook)),
  );
  if (wanted.length === 0) return [];
  const hooks = Object.fromEntries(wanted.map(({ event, entry }) => [event, [entry]]));
  return ["--settings", JSON.stringify({ hooks })];
}

function hooksIn(path: string): Fields {
  try {
    const text = (readSmallFile(path) ?? "{}").replace(/^\uFEFF/, "");
    return fieldsOf(fieldsOf(JSON.parse(text))["hooks"]);
  } catch {
    return {}; // damaged, so it runs none of them
  }
}

function has(hooks: Fields, { event, entry }: WantedHook): boolean {
  const ours = entry.hooks[0]?.command ?? "";
  const there = listOf(hooks[event]).flatMap((one) => listOf(fieldsOf(one)["hooks"]));
  return there.some((hook) => callsSameHook(textOf(fieldsOf(hook)["command"]) ?? "", ours));
}
