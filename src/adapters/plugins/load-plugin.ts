import { spawnSync } from "node:child_process";
import { closest } from "../../core/text.ts";
import { existsSync, realpathSync } from "node:fs";
import * as modules from "node:module";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import { NOTICE_KINDS } from "../../core/views/notice.ts";
import { RalphError } from "../../core/errors.ts";
import { type Fields, isFields } from "../../core/streams/json-fields.ts";
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
/** The files that the plugin being loaded has imported so far; null while none is loading. */
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
    throw cannotLoad(shown, error, syntaxPlace(error, files, root));
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
 * Finds the place of a syntax error as "file:line"; null if it is unknown. Node hides the place from a caller that catches
 * the error, so `node --check` is asked about each imported file. It runs none of them.
 */
function syntaxPlace(error: unknown, imported: readonly string[], root: string): string | null {
  if (!(error instanceof SyntaxError)) return null;
  const told = placeIn(error.stack ?? "", root);
  if (told !== null) return told;
  const files = new Set(imported.filter((url) => /^file:.*\.[mc]?js$/.test(url)).map(fileOf));
  for (const file of [...files].slice(0, FILES_MAX)) {
    const options = { env: {}, timeout: PATIENCE_MS, encoding: "utf8" } as const;
    const place = placeIn(spawnSync(process.execPath, ["--check", file], options).stderr, root);
    if (place !== null) return place;
  }
  return null;
}

/** Node writes it into the first line, before the line of the file itself. */
function placeIn(printed: string, root: string): string | null {
  const [, place, line] = /^(file:\/\/.+|\/.+):(\d+)\n/.exec(printed) ?? [];
  return place === undefined ? null : `${inRepository(fileOf(place), root) ?? fileOf(place)}:${line}`;
}

function fileOf(place: string): string {
  return place.startsWith("file:") ? fileURLToPath(place) : place;
}

const text = z.string("a text");
const texts = z.array(z.string("a list of texts"), "a list of texts");
const aBoolean = z.boolean("true or false").optional();
const aFunction = z.custom((value) => typeof value === "function", "a function");
const command = "a list of texts that is not empty";

function oneOf(...values: readonly string[]) {
  return z.enum(values, `one of ${values.map(inJson).join(", ")}`).optional();
}

function someOf(...values: readonly string[]) {
  const words = `a list of ${values.map(inJson).join(", ")}`;
  return z.array(z.enum(values, words), words).optional();
}

/** Everything that may stand in each kind of part; the messages say what is expected. */
const PARTS: Readonly<Record<Exclude<keyof Plugin, "apiVersion" | "name">, z.ZodObject>> = {
  agents: z.strictObject({
    command: z.array(z.string(command), command).min(1, command),
    format: oneOf("text", "claude", "codex", "gemini", "opencode", "copilot", "acp"),
    env: z.record(z.string(), z.string("a table of texts"), "a table of texts").optional(),
    envDeny: texts.optional(),
    createReader: aFunction.optional(),
    tells: oneOf("cost", "tokens", "nothing"),
  }),
  sources: z.strictObject({
    observe: aFunction,
    mark: aFunction,
    unmark: aFunction.optional(),
    checks: texts.optional(),
  }),
  analyzers: z.strictObject({ analyze: aFunction }),
  guards: z.strictObject({
    check: aFunction,
    on: oneOf("claim", "work"),
    warns: aBoolean,
    advice: text.optional(),
  }),
  exitRules: z.strictObject({ check: aFunction }),
  gates: z.strictObject({
    check: aFunction,
    required: aBoolean,
    timeoutMs: z.number("milliseconds, more than 0").positive("milliseconds, more than 0").optional(),
    kind: text.optional(),
  }),
  notifiers: z.strictObject({ notify: aFunction, on: someOf(...NOTICE_KINDS, "test") }),
};

const NAME = /^[\w.-]{1,60}$/;
const NAME_WORDS = 'expected letters, digits, ".", "_" and "-"';

const KINDS = z.strictObject(
  Object.fromEntries(
    Object.entries(PARTS).map(([kind, part]) => [kind, z.record(z.string().regex(NAME), part).optional()]),
  ),
);

/** The plugin that a module exports, if it is one; `shown` is how the configuration calls it. */
export function checkPlugin(exported: unknown, shown: string): Plugin {
  const wrong = (what: string, hint?: string): RalphError =>
    new RalphError("config", `the plugin ${shown} ${what}`, hint === undefined ? {} : { hint });
  if (!isFields(exported))
    throw wrong(
      "exports no plugin",
      'it needs: export default definePlugin({ apiVersion: 1, name: "…", … })',
    );
  const { apiVersion, name, ...kinds } = exported;
  if (apiVersion === undefined)
    throw wrong(`does not say for which version it was written; add apiVersion: ${API_VERSION}`);
  if (apiVersion !== API_VERSION)
    throw wrong(
      `was written for version ${inJson(apiVersion)} of the plugin API, and this ralph has version ${API_VERSION}`,
    );
  if (typeof name !== "string" || !NAME.test(name))
    throw wrong(`has the name ${inJson(name)}; ${NAME_WORDS}`);
  const [issue] = KINDS.safeParse(kinds).error?.issues ?? [];
  if (issue !== undefined) throw wrong(describeIssue(kinds, issue));
  return exported as unknown as Plugin;
}

function describeIssue(kinds: Fields, issue: z.core.$ZodIssue): string {
  const [kind, part, field] = issue.path.map(String);
  const unknown = issue.code === "unrecognized_keys" ? (issue.keys[0] ?? "") : null;
  if (kind === undefined) return unknownKey(unknown ?? "", ["apiVersion", "name", ...Object.keys(PARTS)]);
  const where = `has in "${kind}"`;
  const shown = inJson(valueAt(kinds, issue.path.slice(0, 3)));
  if (part === undefined) return `${where} ${shown}; expected parts by their names`;
  if (issue.code === "invalid_key") return `${where} the name ${inJson(part)}; ${NAME_WORDS}`;
  const known = Object.keys(PARTS[kind as keyof typeof PARTS].shape);
  if (unknown !== null) return `${where} a part "${part}" that ${unknownKey(unknown, known)}`;
  if (field === undefined) return `${where} ${shown} as "${part}"; expected a table of its fields`;
  const isMissing = valueAt(kinds, issue.path.slice(0, 3)) === undefined;
  const wanted = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const meant = didYouMean(String(valueAt(kinds, issue.path)), wanted);
  const found = isMissing ? "is missing" : `is ${shown}`;
  return `${where} a part "${part}" whose "${field}" ${found}; expected ${issue.message}${meant && `.${meant}`}`;
}

function valueAt(top: Fields, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Fields | undefined)?.[String(key)], top);
}

function unknownKey(key: string, known: readonly string[]): string {
  return `has a field "${key}" that nobody knows.${didYouMean(key, known)}`;
}

function didYouMean(word: string, known: readonly string[]): string {
  const meant = closest(word, known);
  return meant === null ? "" : ` Did you mean "${meant}"?`;
}

function inJson(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 100);
}
