import { closest } from "../../core/text.ts";
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import * as modules from "node:module";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { NOTICE_KINDS } from "../../core/notices/notice.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isFields } from "../../core/report/streams/json-fields.ts";
import { messageOf } from "./ask-plugin.ts";
import type { OpenOptions } from "./open-plugins.ts";
import { API_VERSION, type Plugin } from "./plugin.ts";

export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** As the configuration calls it. */
  readonly shown: string;
  /** Its file, relative to the root; null when it lies elsewhere. */
  readonly file: string | null;
}

const LIMIT_MS = 30_000;

/** Loads a plugin by path (from the root) or package name. From here on its code runs in this process. */
export async function loadPlugin(
  shown: string,
  { root, library, onLoad, warn }: Pick<OpenOptions, "root" | "library" | "onLoad" | "warn">,
): Promise<LoadedPlugin> {
  resolveForPlugins(library);
  const url = isPath(shown) ? fileAt(shown, root) : packageNamed(shown, root);
  const path = isPath(shown) ? fileURLToPath(url) : join(sep, "node_modules", shown, sep);
  onLoad(shown, path);
  const exported = await importWithin(url, shown, root, warn);
  const plugin = checkPlugin(exported["default"] ?? exported["plugin"], shown);
  return { plugin, shown, file: isPath(shown) ? inRepository(fileURLToPath(url), root) : null };
}

function isPath(name: string): boolean {
  return name.startsWith(".") || name.startsWith("/");
}

function fileAt(path: string, root: string): string {
  const file = resolve(root, path);
  if (!existsSync(file))
    throw new RalphError("config", `the plugin ${path} does not exist`, {
      hint: `it was looked for at ${file}; paths in "plugins" count from the root of the repository`,
    });
  if (/\.[mc]?ts$/.test(file) && !process.features.typescript)
    throw new RalphError(
      "config",
      `the plugin ${path} is TypeScript, which this Node (${process.version}) cannot read`,
      { hint: "use Node 22.18 or newer, or give it as JavaScript" },
    );
  return pathToFileURL(realpathSync(file)).href;
}

const PACKAGE = "ralph-plugin:";

/** Found as an import in a file at the root would find it; the hook below knows how. */
function packageNamed(name: string, root: string): string {
  const from = pathToFileURL(join(root, "package.json")).href;
  if (hasHooks()) return `${PACKAGE}${encodeURIComponent(name)}?from=${encodeURIComponent(from)}`;
  try {
    return pathToFileURL(modules.createRequire(from).resolve(name)).href;
  } catch (error) {
    throw cannotLoad(name, error);
  }
}

/** Node has them since 22.15. */
function hasHooks(): boolean {
  return typeof modules.registerHooks === "function";
}

let resolvesTo: string | null = null;
/** What was imported for the plugin that is being loaded; null while none is. */
let imported: string[] | null = null;

/** A plugin that imports "ralph" gets the program that runs it, wherever that is installed. */
function resolveForPlugins(library: string): void {
  if (resolvesTo !== null || !hasHooks()) return;
  resolvesTo = pathToFileURL(library).href;
  modules.registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "ralph" && resolvesTo !== null) return { url: resolvesTo, shortCircuit: true };
      const isPackage = specifier.startsWith(PACKAGE);
      const words = isPackage ? specifier.slice(PACKAGE.length).split("?from=").map(decodeURIComponent) : [];
      const [name = specifier, parentURL = context.parentURL] = words;
      const found = next(name, { ...context, parentURL });
      imported?.push(found.url);
      return found;
    },
  });
}

async function importWithin(
  url: string,
  shown: string,
  root: string,
  warn: OpenOptions["warn"],
): Promise<Readonly<Record<string, unknown>>> {
  const files = [url];
  imported = files;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("it is not ready after 30 s")), LIMIT_MS);
  const refuse = (): void => {
    process.exitCode = 64;
    warn(`the plugin ${shown} ends the program while it is loaded`);
  };
  process.on("exit", refuse);
  try {
    return (await Promise.race([import(url), late.promise])) as Record<string, unknown>;
  } catch (error) {
    throw cannotLoad(shown, error, await syntaxPlace(error, files, root));
  } finally {
    clearTimeout(timer);
    process.off("exit", refuse);
    imported = null;
  }
}

function cannotLoad(shown: string, error: unknown, place: string | null = null): RalphError {
  const code = error instanceof Error && "code" in error ? error.code : null;
  const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  if (isMissing && !isPath(shown) && messageOf(error).includes(`'${shown}'`))
    return new RalphError("config", `the plugin ${shown} is not installed for this repository`, {
      hint: `npm install ${shown}; or, if it is a file, write its path with ./ in front`,
      cause: error,
    });
  return new RalphError(
    "config",
    `the plugin ${shown} cannot be loaded: ${messageOf(error)}${place === null ? "" : ` (${place})`}`,
    { hint: 'mend it, or take it out of "plugins" in the configuration', cause: error },
  );
}

function inRepository(file: string, root: string): string | null {
  const path = relative(realpathSync(root), file);
  return path.startsWith(`..${sep}`) || path.startsWith("/") ? null : path;
}

const FILES_MAX = 20;
const PATIENCE_MS = 10_000;

/**
 * Where the mistake is, as "file:line"; null when nobody can tell. Of most modules Node keeps the place from those who catch the
 * error, so it is asked again about each file that was `imported`. It runs none of them.
 */
async function syntaxPlace(
  error: unknown,
  imported: readonly string[],
  root: string,
): Promise<string | null> {
  if (!(error instanceof SyntaxError)) return null;
  const told = placeIn(error.stack ?? "", root);
  if (told !== null) return told;
  const files = new Set(imported.filter((url) => /^file:.*\.[mc]?js$/.test(url)).map(fileOf));
  for (const file of [...files].slice(0, FILES_MAX)) {
    const place = placeIn(await complaintOf(file), root);
    if (place !== null) return place;
  }
  return null;
}

/** Node writes it into the first line, before the line of the file itself. */
function placeIn(printed: string, root: string): string | null {
  const [, place, line] = /^(file:\/\/.+|\/.+):(\d+)\n/.exec(printed) ?? [];
  return place === undefined ? null : `${shownIn(root, fileOf(place))}:${line}`;
}

function complaintOf(file: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: PATIENCE_MS };
    execFile(process.execPath, ["--check", file], options, (_error, _stdout, stderr) => resolve(stderr));
  });
}

function fileOf(place: string): string {
  return place.startsWith("file:") ? fileURLToPath(place) : place;
}

function shownIn(root: string, file: string): string {
  const path = relative(realpathSync(root), file);
  return path.startsWith(`..${sep}`) ? file : path;
}

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
  (value) => isFields(value) && Object.values(value).every(isText),
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
  if (!isFields(exported))
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
    if (!isFields(value)) throw wrong(`has in "${key}" ${inJson(value)}; expected parts by their names`);
    for (const [part, inside] of Object.entries(value)) {
      const trouble = partTrouble(part, inside, fields);
      if (trouble !== null) throw wrong(`has in "${key}" ${trouble}`);
    }
  }
  return exported as unknown as Plugin;
}

function partTrouble(name: string, part: unknown, fields: Fields): string | null {
  if (!NAME.test(name)) return `the name ${inJson(name)}; expected letters, digits, ".", "_" and "-"`;
  if (!isFields(part)) return `${inJson(part)} as "${name}"; expected a table of its fields`;
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

function inJson(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 100);
}
