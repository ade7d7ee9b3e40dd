import { closest } from "../../core/closest.ts";
import { NOTICE_KINDS } from "../../core/notices/notice.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { API_VERSION, type Plugin } from "./plugin.ts";

/** What may stand in a place, in words, and whether it does. */
interface Expected {
  readonly words: string;
  readonly isMet: (value: unknown) => boolean;
  readonly isNeeded?: boolean;
  /** The words that may stand in a list. */
  readonly among?: readonly string[];
}

const optional = (words: string, isMet: (value: unknown) => boolean): Expected => ({ words, isMet });
const needed = (expected: Expected): Expected => ({ ...expected, isNeeded: true });
const isText = (value: unknown): value is string => typeof value === "string";
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const aFunction = optional("a function", (value) => typeof value === "function");
const aBoolean = optional("true or false", (value) => typeof value === "boolean");
const aText = optional("a text", isText);
const texts = optional("a list of texts", isTextList);
const command = optional(
  "a list of texts that is not empty",
  (value) => isTextList(value) && value.length > 0,
);
const aDuration = optional(
  "milliseconds, more than 0",
  (value) => Number.isFinite(value) && Number(value) > 0,
);
const variables = optional(
  "a table of texts",
  (value) => isTable(value) && Object.values(value).every(isText),
);

function oneOf(...values: readonly string[]): Expected {
  const words = `one of ${values.map(inJson).join(", ")}`;
  return optional(words, (value) => isText(value) && values.includes(value));
}

function someOf(...among: readonly string[]): Expected {
  const isMet = (value: unknown): boolean => isTextList(value) && value.every((text) => among.includes(text));
  return { words: `a list of ${among.map(inJson).join(", ")}`, isMet, among };
}

type Fields = Readonly<Record<string, Expected>>;

/** Everything that may stand in each kind of part. */
const PARTS: Readonly<Record<Exclude<keyof Plugin, "apiVersion" | "name">, Fields>> = {
  agents: {
    command: needed(command),
    format: oneOf("text", "claude", "codex", "gemini", "opencode", "copilot", "acp"),
    env: variables,
    envDeny: texts,
    createReader: aFunction,
    tells: oneOf("cost", "tokens", "nothing"),
  },
  sources: { observe: needed(aFunction), mark: needed(aFunction), unmark: aFunction, checks: texts },
  analyzers: { analyze: needed(aFunction) },
  guards: { check: needed(aFunction), on: oneOf("claim", "work"), warns: aBoolean, advice: aText },
  exitRules: { check: needed(aFunction) },
  gates: { check: needed(aFunction), required: aBoolean, timeoutMs: aDuration, kind: aText },
  notifiers: { notify: needed(aFunction), on: someOf(...NOTICE_KINDS, "test") },
};

const NAME = /^[\w.-]{1,60}$/;

/** The plugin that a module exports, if it is one; `shown` is how the configuration calls it. */
export function checkPlugin(exported: unknown, shown: string): Plugin {
  const wrong = (what: string, hint?: string): RalphError =>
    new RalphError("config", `the plugin ${shown} ${what}`, hint === undefined ? {} : { hint });
  if (!isTable(exported))
    throw wrong(
      "exports no plugin",
      'it needs: export default definePlugin({ apiVersion: 1, name: "…", … })',
    );
  const { apiVersion, name } = exported;
  if (apiVersion !== API_VERSION) throw wrong(versionTrouble(apiVersion));
  if (!isText(name) || !NAME.test(name))
    throw wrong(`has the name ${inJson(name)}; expected letters, digits, ".", "_" and "-"`);
  for (const [key, value] of Object.entries(exported)) {
    if (key === "apiVersion" || key === "name" || value === undefined) continue;
    const fields = Object.hasOwn(PARTS, key) ? PARTS[key as keyof typeof PARTS] : undefined;
    if (fields === undefined) throw wrong(unknownKey(key, ["apiVersion", "name", ...Object.keys(PARTS)]));
    if (!isTable(value)) throw wrong(`has in "${key}" ${inJson(value)}; expected parts by their names`);
    for (const [part, inside] of Object.entries(value)) {
      const trouble = partTrouble(part, inside, fields);
      if (trouble !== null) throw wrong(`has in "${key}" ${trouble}`);
    }
  }
  return exported as unknown as Plugin;
}

function partTrouble(name: string, part: unknown, fields: Fields): string | null {
  if (!NAME.test(name)) return `the name ${inJson(name)}; expected letters, digits, ".", "_" and "-"`;
  if (!isTable(part)) return `${inJson(part)} as "${name}"; expected a table of its fields`;
  for (const [field, { words, isMet, isNeeded = false, among = [] }] of Object.entries(fields)) {
    const value = part[field];
    if (value === undefined ? isNeeded : !isMet(value)) {
      const found = value === undefined ? "is missing" : `is ${inJson(value)}`;
      return `a part "${name}" whose "${field}" ${found}; expected ${words}${meantAmong(value, among)}`;
    }
  }
  const unknown = Object.keys(part).find((field) => !Object.hasOwn(fields, field));
  return unknown === undefined ? null : `a part "${name}" that ${unknownKey(unknown, Object.keys(fields))}`;
}

function meantAmong(value: unknown, among: readonly string[]): string {
  const wrong = isTextList(value) ? value.find((text) => !among.includes(text)) : undefined;
  const meant = wrong === undefined ? null : closest(wrong, among);
  return meant === null ? "" : `. ${didYouMean(meant)}`;
}

function versionTrouble(version: unknown): string {
  if (version === undefined)
    return `does not say for which version it was written; add apiVersion: ${API_VERSION}`;
  return `was written for version ${inJson(version)} of the plugin API, and this ralph has version ${API_VERSION}`;
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = closest(key, known);
  return `has a field "${key}" that nobody knows.${meant === null ? "" : ` ${didYouMean(meant)}`}`;
}

function didYouMean(meant: string): string {
  return `Did you mean "${meant}"?`;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function inJson(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 100);
}
