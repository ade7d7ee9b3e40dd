import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from "../streams/json-fields.ts";
import { few } from "../text.ts";

/** One call of a tool as its stream tells it; null or undefined is what it does not tell. */
export interface ToolFacts {
  readonly name: string;
  readonly title: string | null;
  readonly input: unknown;
  readonly result: unknown;
  /** Null while it runs. */
  readonly isGood: boolean | null;
}

export interface ToolWords {
  readonly kind: "tool" | "edit";
  /** The verb with the file or the command: `Run npm test`. */
  readonly title: string;
  /** What came of it, in few words. */
  readonly brief: string;
  readonly state: "open" | "good" | "bad";
  /** What the title leaves out of the input. */
  readonly input: string;
  readonly result: string;
  /** Lines that begin with `+`, `-` or a space. */
  readonly diff: string;
}

/** Programs name the same tools differently. */
const VERBS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    Run: "bash run_shell_command command_execution shell execute exec_command terminal powershell",
    Read: "read read_file read_many_files view",
    Write: "write write_file create create_file",
    Edit: "edit multiedit replace str_replace notebookedit file_change apply_patch patch",
    Search: "grep glob search search_file_content grep_search",
    List: "ls list list_directory",
    Fetch: "webfetch web_fetch fetch",
    "Search the web for": "websearch web_search google_web_search",
    Delegate: "task agent collab_tool_call",
    Plan: "todowrite todoread write_todos update_plan",
  }).flatMap(([verb, names]) => names.split(" ").map((name) => [name, verb])),
);

const PATHS = ["file_path", "filePath", "path", "notebook_path", "absolute_path"];
const SUBJECTS = ["command", "cmd", "pattern", "query", ...PATHS, "url", "description", "prompt"];
const OLD = ["old_string", "oldString", "old_str", "oldText"];
const NEW = ["new_string", "newString", "new_str", "newText"];
const CONTENTS = ["content", "file_text", "new_source", "contents"];

const TITLE_LENGTH = 140;
const BRIEF_LENGTH = 100;

/** `short` names a file from the workspace. */
export function toolInWords(tool: ToolFacts, short: (path: string) => string): ToolWords {
  const input = fieldsOf(tool.input);
  const named = VERBS[tool.name.toLowerCase()] ?? tool.name;
  const changes = changesIn(named, tool.input);
  const kinds = new Set(changes.map(({ kind }) => kind));
  const verb = (kinds.size === 1 && KINDS[[...kinds][0] ?? ""]) || named;
  const { subject, isWhole } = subjectOf(verb, tool, changes, short);
  const { text, exitCode } = resultOf(tool.result);
  const isGood = tool.isGood === true && (exitCode ?? 0) === 0;
  const state = tool.isGood === null ? "open" : isGood ? "good" : "bad";
  const diff = changes.flatMap((change) => diffOf(change, changes.length > 1, short)).join("\n");
  return {
    kind: changes.length > 0 ? "edit" : "tool",
    title: cut(`${verb} ${subject}`.trim(), TITLE_LENGTH),
    brief: state === "open" ? "" : briefOf(state, text, exitCode, diff),
    state,
    input: inputOf(input, isWhole ? subject : null, changes.length > 0),
    result: text.trimEnd(),
    diff,
  };
}

function subjectOf(
  verb: string,
  { name, title, input }: ToolFacts,
  changes: readonly Change[],
  short: (path: string) => string,
): { readonly subject: string; readonly isWhole: boolean } {
  if (changes.length > 0) {
    const paths = [...new Set(changes.map(({ path }) => short(path)))];
    return { subject: few(paths, 3), isWhole: false };
  }
  const fields = fieldsOf(input);
  const told = firstText(fields, SUBJECTS) ?? (title === name ? null : title);
  const whole = verb === "Run" ? withoutShell(told ?? "") : short(told ?? "");
  const [line = ""] = whole.trim().split("\n");
  return { subject: line === whole.trim() ? line : `${line} …`, isWhole: told !== null };
}

/** Codex shows the shell that runs a command. */
function withoutShell(command: string): string {
  const inner =
    /^\S*\b(?:ba|z)?sh -l?c '([^]*)'$/.exec(command)?.[1] ??
    /^\S*\b(?:ba|z)?sh -l?c (\S+)$/.exec(command)?.[1];
  return inner === undefined ? command : inner.replaceAll(String.raw`'\''`, "'");
}

function firstText(fields: Fields, names: readonly string[]): string | null {
  const name = names.find((one) => textOf(fields[one]) !== null);
  return name === undefined ? null : textOf(fields[name]);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

/** The change of one file; what is not told of it is null. */
interface Change {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly patch: string | null;
  /** `add` and `delete`, as Codex says it. */
  readonly kind: string | null;
}

const KINDS: Readonly<Record<string, string>> = { add: "Write", delete: "Delete" };

function changesIn(verb: string, input: unknown): readonly Change[] {
  const fields = fieldsOf(input);
  const patch = textOf(input) ?? firstText(fields, ["patchText", "patch", "input"]) ?? "";
  if (patch.includes("*** Begin Patch")) return changesInPatch(patch);
  const parts = [...listOf(fields["changes"]), ...listOf(fields["edits"])].map(fieldsOf);
  const all = parts.length === 0 ? [fields] : parts;
  return all.flatMap((part) => {
    const path = firstText(part, PATHS) ?? firstText(fields, PATHS);
    if (path === null) return [];
    const [before, after] = [OLD, NEW].map((names) => stringOf(part, names)) as [
      string | null,
      string | null,
    ];
    const content = verb === "Write" || verb === "Edit" ? stringOf(part, CONTENTS) : null;
    const told = firstText(part, ["diff", "unified_diff"]);
    const isChange = before !== null || after !== null || content !== null || told !== null;
    const kind = textOf(part["kind"]);
    if (!isChange && kind === null) return [];
    return [{ path, before, after: after ?? content, patch: told, kind }];
  });
}

function stringOf(fields: Fields, names: readonly string[]): string | null {
  const name = names.find((one) => typeof fields[one] === "string");
  return name === undefined ? null : String(fields[name]);
}

function changesInPatch(patch: string): readonly Change[] {
  const files = patch.split(/^\*\*\* (?:Add|Update|Delete) File: /m).slice(1);
  return files.map((file) => {
    const [path = "", ...lines] = file.replace(/\n\*\*\* End Patch[^]*$/, "").split("\n");
    return { path: path.trim(), before: null, after: null, patch: lines.join("\n"), kind: null };
  });
}

function diffOf(
  { path, before, after, patch }: Change,
  isNamed: boolean,
  short: (path: string) => string,
): readonly string[] {
  const head = isNamed ? [`@@ ${short(path)}`] : [];
  if (patch !== null) return [...head, ...patch.trimEnd().split("\n")];
  return [...head, ...lineDiff(linesIn(before), linesIn(after))];
}

function linesIn(text: string | null): readonly string[] {
  return text === null || text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

const CONTEXT = 3;

/** What differs between two texts that begin and end alike. */
function lineDiff(before: readonly string[], after: readonly string[]): readonly string[] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line) => `${mark}${line}`);
  return [
    ...marked(" ", before.slice(Math.max(0, head - CONTEXT), head)),
    ...marked("-", before.slice(head, before.length - tail)),
    ...marked("+", after.slice(head, after.length - tail)),
    ...marked(" ", before.slice(before.length - tail, before.length - tail + CONTEXT)),
  ];
}

const RESULTS = ["aggregated_output", "output", "content", "text", "message", "stdout", "result", "error"];

/** Copilot ends what a command printed with it. */
const SHELL_NOTE = /\n?<shellId: [^>\n]*>\s*$/;

/** The words in a result, and its exit code, wherever a program puts them. */
function resultOf(value: unknown): { readonly text: string; readonly exitCode: number | null } {
  if (typeof value === "string") return { text: value.replace(SHELL_NOTE, ""), exitCode: null };
  if (Array.isArray(value))
    return { text: value.map((part) => resultOf(part).text).join("\n"), exitCode: null };
  if (!isFields(value)) return { text: "", exitCode: null };
  if (value["type"] === "image") return { text: "[image]", exitCode: null };
  const exitCode = numberOf(value["exit_code"]) ?? numberOf(value["exitCode"]) ?? numberOf(value["exit"]);
  const texts = RESULTS.map((name) => resultOf(value[name]).text);
  return { text: texts.find((text) => text !== "") ?? "", exitCode };
}

function briefOf(state: "good" | "bad", result: string, exitCode: number | null, diff: string): string {
  const lines = result.split("\n").filter((line) => line.trim() !== "");
  const [first = ""] = lines;
  if (state === "bad") {
    const exit = exitCode === null || exitCode === 0 ? [] : [`exit ${exitCode}`];
    return cut([...exit, first.trim()].filter((part) => part !== "").join(" · ") || "failed", BRIEF_LENGTH);
  }
  if (diff !== "") return countsIn(diff);
  return lines.length <= 1 ? cut(first.trim(), BRIEF_LENGTH) : `${lines.length} lines`;
}

function countsIn(diff: string): string {
  const lines = diff.split("\n");
  const [added, removed] = ["+", "-"].map((mark) => lines.filter((line) => line.startsWith(mark)).length);
  return `+${added} −${removed}`;
}

/** Each field of an input that the title does not show whole. */
function inputOf(input: Fields, subject: string | null, isEdit: boolean): string {
  const shown = isEdit
    ? [...PATHS, ...OLD, ...NEW, ...CONTENTS, "changes", "edits", "patchText", "patch", "input"]
    : [];
  return Object.entries(input)
    .filter(([name, value]) => !shown.includes(name) && !(typeof value === "string" && isIn(subject, value)))
    .map(([name, value]) => {
      const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
      return text.includes("\n") ? `${name}:\n${text.trimEnd()}` : `${name}: ${text}`;
    })
    .join("\n");
}

function isIn(subject: string | null, value: string): boolean {
  return subject !== null && (withoutShell(value).trim() === subject || value.endsWith(`/${subject}`));
}
