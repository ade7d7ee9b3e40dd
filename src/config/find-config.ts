import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { RalphError } from "../core/ralph-error.ts";
import { BadSyntax, type ConfigText, lineOfPath, readJson, readToml } from "./config-text.ts";
import { explainIssues, valueAt } from "./schema-node.ts";

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

const stage = z.strictObject({
  enabled: z.boolean().optional(),
  max_iterations: z.number().int().min(1).optional(),
  completion_promise: z.string().min(1).optional(),
});

/** The `ralph:` tree of a `config.yaml`. */
const tree = z.strictObject({
  enabled: z.boolean().optional(),
  default_max_iterations: z.number().int().min(1).optional(),
  verify_promises: z.boolean().optional(),
  coder: stage.optional(),
  reviewer: stage.optional(),
  tester: stage.optional(),
  qa: stage.optional(),
});

const STAGES = ["coder", "reviewer", "tester", "qa"] as const;

/** Takes the tree in our own words. `strict` says that the whole file is ours. */
async function readRalphTree(text: ConfigText, shown: string, strict: boolean): Promise<Written> {
  const file = strict
    ? z.strictObject({ ralph: tree.optional() })
    : z.looseObject({ ralph: tree.optional() });
  const parsed = file.safeParse(text.value ?? {});
  const complain = async (path: readonly PropertyKey[], what: string): Promise<RalphError> =>
    new RalphError("config", `${shown}:${lineOfPath(await text.places(), path)}: ${what}`);
  if (!parsed.success) {
    const checked = { schema: file, value: text.value, notation: text.notation };
    const { path, text: what } = explainIssues(parsed.error.issues, checked);
    throw await complain(path, what);
  }
  return { ...inOurWords(parsed.data.ralph ?? {}), shown, text };
}

type Tree = z.output<typeof tree>;
type InOurWords = Omit<Written, "shown" | "text">;

/** A tree that speaks of the coder's loop alone means the one stage that there is without a pipeline. */
function inOurWords(ralph: Tree): InOurWords {
  const isSingle = STAGES.every((name) => name === "coder" || ralph[name] === undefined);
  const loops = ralph.enabled !== false && ralph.coder?.enabled !== false;
  return isSingle && loops ? oneStage(ralph) : pipeline(ralph);
}

function oneStage(ralph: Tree): InOurWords {
  const promise = ralph.coder?.completion_promise;
  const ownLimit = ralph.coder?.max_iterations;
  const limit = ownLimit ?? ralph.default_max_iterations;
  const limitPath =
    ownLimit === undefined ? ["ralph", "default_max_iterations"] : ["ralph", "coder", "max_iterations"];
  const isOverruled = ownLimit !== undefined && ralph.default_max_iterations !== undefined;
  return {
    value: { promise: { ...(promise !== undefined && { completion: promise }), ...verifyOf(ralph) } },
    writtenAs: new Map([
      ["promise.completion", ["ralph", "coder", "completion_promise"]],
      ["promise.verify", ["ralph", "verify_promises"]],
    ]),
    iterationsPerTask: limit === undefined ? null : { value: limit, path: limitPath },
    waiting: isOverruled
      ? [{ path: ["ralph", "default_max_iterations"], why: "ralph.coder.max_iterations is stronger" }]
      : [],
  };
}

function pipeline(ralph: Tree): InOurWords {
  const named = STAGES.filter((name) => name === "coder" || ralph[name] !== undefined);
  const writtenAs = new Map([["promise.verify", ["ralph", "verify_promises"]]]);
  const stages = named.map((name) => {
    const own = ralph[name] ?? {};
    const limit = own.max_iterations ?? ralph.default_max_iterations;
    const limitPath =
      own.max_iterations === undefined ? ["default_max_iterations"] : [name, "max_iterations"];
    writtenAs.set(`stages.${name}.max_iterations`, ["ralph", ...limitPath]);
    writtenAs.set(
      `stages.${name}.enabled`,
      own.enabled === undefined ? ["ralph"] : ["ralph", name, "enabled"],
    );
    writtenAs.set(`stages.${name}.completion_promise`, ["ralph", name, "completion_promise"]);
    const { completion_promise: promise } = own;
    return [
      name,
      {
        enabled: ralph.enabled !== false && own.enabled !== false,
        ...(limit !== undefined && { max_iterations: limit }),
        ...(promise !== undefined && { completion_promise: promise }),
      },
    ];
  });
  return {
    value: { promise: verifyOf(ralph), stages: Object.fromEntries(stages) as unknown },
    writtenAs,
    iterationsPerTask: null,
    waiting: [],
  };
}

function verifyOf({ verify_promises: verify }: Tree): { readonly verify?: boolean } {
  return verify === undefined ? {} : { verify };
}
