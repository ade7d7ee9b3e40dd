import { JsonError, memberOf, readJson } from "../../compose.ts";
import { callsSameHook, type WantedHook } from "../../core/agent-hooks.ts";
import { RalphError } from "../../core/ralph-error.ts";

type JsonNode = ReturnType<typeof readJson>;

/**
 * The settings with our hooks in them, or null when they have them already. Everything else stays byte for byte.
 * With `renew` a hook of ours that is called in another way is called in this one.
 */
export function withHooks(
  file: Buffer,
  path: string,
  wanted: readonly WantedHook[],
  renew: boolean,
): Buffer | null {
  const start = file.toString("latin1").trim() === "" ? Buffer.from("{}\n") : file;
  const edited = wanted.reduce((settings, hook) => withHook(settings, path, hook, renew), start);
  return edited.equals(file) ? null : edited;
}

function withHook(file: Buffer, path: string, { event, entry }: WantedHook, renew: boolean): Buffer {
  const top = parse(file, path);
  if (top.is !== "object") throw wrongShape(path, "an object");
  const hooks = memberOf(top, "hooks")?.value;
  if (hooks === undefined) return insert(file, top, "hooks", { [event]: [entry] });
  if (hooks.is !== "object") throw wrongShape(path, 'an object under "hooks"');
  const list = memberOf(hooks, event)?.value;
  if (list === undefined) return insert(file, hooks, event, [entry]);
  if (list.is !== "array") throw wrongShape(path, `a list under "hooks.${event}"`);
  const command = entry.hooks[0]?.command ?? "";
  const ours = commandsIn(list).find(({ value }) => callsSameHook(value, command));
  if (ours === undefined) return insert(file, list, null, entry);
  return renew && ours.value !== command ? replace(file, ours, JSON.stringify(command)) : file;
}

function parse(file: Buffer, path: string): JsonNode {
  try {
    return readJson(file);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = file.toString("latin1", 0, error.offset).split("\n").length;
    throw new RalphError("config", `${path}:${line}: this is not JSON; ${error.message}`, {
      hint: "repair it first; nothing was changed in it",
      cause: error,
    });
  }
}

function wrongShape(path: string, expected: string): RalphError {
  return new RalphError("config", `${path}: expected ${expected}`, {
    hint: "repair it first; nothing was changed in it",
  });
}

interface CommandText {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function commandsIn(list: JsonNode): readonly CommandText[] {
  const entries = list.is === "array" ? list.items : [];
  return entries.flatMap((entry) => {
    const hooks = entry.is === "object" ? memberOf(entry, "hooks")?.value : undefined;
    return (hooks?.is === "array" ? hooks.items : []).flatMap((hook) => {
      const command = hook.is === "object" ? memberOf(hook, "command")?.value : undefined;
      if (command?.is !== "scalar" || typeof command.value !== "string") return [];
      return [{ value: command.value, start: command.start, end: command.end }];
    });
  });
}

function replace(file: Buffer, { start, end }: Pick<CommandText, "start" | "end">, text: string): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(text), file.subarray(end)]);
}

/** One more member (with a key) or item after the last one, laid out as the file is. */
function insert(
  file: Buffer,
  into: Exclude<JsonNode, { is: "scalar" }>,
  key: string | null,
  value: unknown,
): Buffer {
  const text = file.toString("latin1");
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const step = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const last = into.is === "object" ? into.members.at(-1) : into.items.at(-1);
  const lastStart = last === undefined ? null : "key" in last ? last.keyStart : last.start;
  const lastEnd = last === undefined ? null : "key" in last ? last.value.end : last.end;
  const before = lastStart === null ? null : /[ \t\r\n]*$/.exec(text.slice(into.start, lastStart))?.[0];
  const isOneLine = before != null && !before.includes("\n");
  const indent = before?.split("\n").at(-1) ?? `${indentAt(text, into.start)}${step}`;
  const label = key === null ? "" : `${JSON.stringify(key)}: `;
  const shown = isOneLine
    ? JSON.stringify(value)
    : JSON.stringify(value, null, step).replaceAll("\n", `${newline}${indent}`);
  if (lastEnd !== null)
    return replace(file, { start: lastEnd, end: lastEnd }, `,${before ?? ""}${label}${shown}`);
  const inside = `${newline}${indent}${label}${shown}${newline}${indentAt(text, into.start)}`;
  return replace(file, { start: into.start + 1, end: into.end - 1 }, inside);
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
}
