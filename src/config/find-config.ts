import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { RalphError } from "../core/ralph-error.ts";
import { BadSyntax, lineOfPath, type ConfigText } from "./config-text.ts";
import { valueAt } from "./explain-issue.ts";
import { readJson } from "./read-json.ts";
import { readToml } from "./read-toml.ts";
import { readRalphTree } from "./ralph-tree.ts";

/** What a file says, in the form of the schema, not yet checked against it. */
export interface Written {
  /** The path that people know. */
  readonly shown: string;
  readonly text: ConfigText;
  readonly value: unknown;
  /** Where keys stand in the file, if not under their own name. */
  readonly writtenAs: ReadonlyMap<string, readonly string[]>;
  readonly iterationsPerTask: { readonly value: number; readonly path: readonly string[] } | null;
  readonly waiting: readonly { readonly path: readonly string[]; readonly why: string }[];
}

/** The one configuration file of a project, read; null when there is none. */
export async function findConfig(root: string, ralphDir: string): Promise<Written | null> {
  const files = new Map<string, Reader>([
    [join(ralphDir, "ralph.toml"), readOwn(readToml)],
    [join(ralphDir, "ralph.json"), readOwn(readJson)],
    [join(root, ".specflow", "config.yaml"), readForeignYaml],
    [join(ralphDir, "config.yaml"), readOwnYaml],
  ]);
  const found: Written[] = [];
  for (const [path, read] of files) {
    if (!existsSync(path)) continue;
    const shown = nameOf(path, root);
    const written = await explainSyntax(shown, () => read(contentOf(path, shown), shown));
    if (written !== null) found.push(written);
  }
  if (found.length > 1) {
    const names = found.map((file) => file.shown);
    throw new RalphError("config", `there is more than one configuration: ${names.join(" and ")}`, {
      hint: "keep one of them: nobody could say which is stronger",
    });
  }
  return found[0] ?? null;
}

type Reader = (content: string, shown: string) => Promise<Written | null>;

function readOwn(parse: (content: string) => ConfigText): Reader {
  return async (content, shown) => {
    const text = parse(content);
    const { value, writtenAs } = await withoutAliases(text, shown);
    return { shown, text, value, writtenAs, iterationsPerTask: null, waiting: [] };
  };
}

async function readOwnYaml(content: string, shown: string): Promise<Written> {
  return readRalphTree(await yaml(content), shown, true);
}

/** A file of another program: without a `ralph:` tree it is none of our business. */
async function readForeignYaml(content: string, shown: string): Promise<Written | null> {
  if (!/\bralph\b/.test(content)) return null;
  const text = await yaml(content);
  return valueAt(text.value, ["ralph"]) === undefined ? null : readRalphTree(text, shown, false);
}

async function yaml(content: string): Promise<ConfigText> {
  // Loaded when it is needed: it takes longer than everything else here.
  const { readYaml } = await import("./read-yaml.ts");
  return readYaml(content);
}

/** Other names for keys, which other loops use. */
const ALIASES: readonly (readonly [section: string, alias: string, key: string])[] = [
  ["promise", "require_xml_format", "require_xml"],
];

async function withoutAliases(
  text: ConfigText,
  shown: string,
): Promise<Pick<Written, "value" | "writtenAs">> {
  const writtenAs = new Map<string, readonly string[]>();
  let value = text.value;
  for (const [section, alias, key] of ALIASES) {
    const given = valueAt(value, [section, alias]);
    if (given === undefined) continue;
    if (valueAt(value, [section, key]) !== undefined) {
      const line = lineOfPath(await text.places(), [section, alias]);
      const what = `"${section}.${alias}" is another name for "${section}.${key}", which is there too; remove one`;
      throw new RalphError("config", `${shown}:${line}: ${what}`);
    }
    const tree = value as Record<string, Record<string, unknown>>;
    const { [alias]: _renamed, ...others } = tree[section] ?? {};
    value = { ...tree, [section]: { ...others, [key]: given } };
    writtenAs.set(`${section}.${key}`, [section, alias]);
  }
  return { value, writtenAs };
}

/** The readers of other people's formats take their time with long nonsense. */
const FILE_BYTES_MAX = 100_000;

function contentOf(path: string, shown: string): string {
  try {
    const { size } = statSync(path);
    if (size > FILE_BYTES_MAX)
      throw new RalphError(
        "config",
        `${shown} is larger than ${FILE_BYTES_MAX / 1_000} kB; that is no configuration`,
      );
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof RalphError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new RalphError("config", `${shown} cannot be read (${code ?? String(error)})`, { cause: error });
  }
}

async function explainSyntax<T>(shown: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BadSyntax)) throw error;
    throw new RalphError("config", `${shown}:${error.line}: ${error.message}`, { cause: error });
  }
}

function nameOf(path: string, root: string): string {
  const name = relative(root, path);
  return name.startsWith("..") || isAbsolute(name) ? path : name;
}
