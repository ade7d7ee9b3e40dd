import { existsSync, realpathSync } from "node:fs";
import * as modules from "node:module";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { RalphError } from "../../core/ralph-error.ts";
import { messageOf } from "./ask-plugin.ts";
import { checkPlugin } from "./check-plugin.ts";
import type { OpenOptions } from "./open-plugins.ts";
import type { Plugin } from "./plugin.ts";
import { syntaxPlace } from "./syntax-place.ts";

export interface LoadedPlugin {
  readonly plugin: Plugin;
  /** As the configuration calls it. */
  readonly shown: string;
  /** Its file, relative to the root; null when it lies elsewhere. */
  readonly file: string | null;
}

const LIMIT_MS = 30_000;

/**
 * Loads a plugin by its path, which counts from the root of the repository, or by the name of a package that is installed
 * for it. From here on its code runs, with all that this process may do.
 */
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
    {
      hint: 'mend it, or take it out of "plugins" in the configuration',
      cause: error,
    },
  );
}

function inRepository(file: string, root: string): string | null {
  const path = relative(realpathSync(root), file);
  return path.startsWith(`..${sep}`) || path.startsWith("/") ? null : path;
}
