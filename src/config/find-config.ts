import { existsSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { RalphError } from "../core/errors.ts";
import { BadSyntax, type ConfigText, lineOf, readJson, readToml } from "./config-text.ts";
import { explainIssues, setAt, valueAt } from "./explain-issues.ts";

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

type Reader = (content: string, shown: string) => Promise<Written | null>;

/** The configuration files of a project, read, in the order in which they are named. */
export async function findConfig(root: string, ralphDir: string): Promise<readonly Written[]> {
  const files: readonly (readonly [path: string, read: Reader])[] = [
    [join(ralphDir, "ralph.toml"), async (text, shown) => withoutAliases(readToml(text), shown)],
    [join(ralphDir, "ralph.json"), async (text, shown) => withoutAliases(readJson(text), shown)],
    [join(root, ".specflow", "config.yaml"), readForeignYaml],
    [join(ralphDir, "config.yaml"), async (text, shown) => readRalphTree(await yaml(text), shown, true)],
  ];
  const found: Written[] = [];
  for (const [path, read] of files) {
    if (!existsSync(path)) continue;
    const name = relative(root, path);
    const shown = name.startsWith("..") || isAbsolute(name) ? path : name;
    try {
      const written = await read(contentOf(path, shown), shown);
      if (written !== null) found.push(written);
    } catch (error) {
      if (!(error instanceof BadSyntax)) throw error;
      throw new RalphError("config", `${shown}:${error.line}: ${error.message}`, { cause: error });
    }
  }
  return found;
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

/** Keys that other loops know under another name or at another place. */
const ALIASES: readonly (readonly [written: readonly string[], meant: readonly string[]])[] = [
  [
    ["promise", "require_xml_format"],
    ["promise", "require_xml"],
  ],
  [["require_xml_format"], ["promise", "require_xml"]],
];

async function withoutAliases(text: ConfigText, shown: string): Promise<Written> {
  const writtenAs = new Map<string, readonly string[]>();
  let { value } = text;
  for (const [written, meant] of ALIASES) {
    const given = valueAt(value, written);
    if (given === undefined) continue;
    const key = meant.join(".");
    if (valueAt(value, meant) !== undefined) {
      const line = lineOf(await text.lines(), written);
      const what = `"${written.join(".")}" is another name for "${key}"`;
      throw new RalphError("config", `${shown}:${line}: ${what}, which is there too; remove one`);
    }
    const tree = structuredClone(value) as Record<string, unknown>;
    const around = valueAt(tree, written.slice(0, -1)) as Record<string, unknown>;
    delete around[written.at(-1) ?? ""];
    setAt(tree, meant, given);
    writtenAs.set(key, written);
    value = tree;
  }
  return { shown, text, value, writtenAs, iterationsPerTask: null, waiting: [] };
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

const stage = z
  .strictObject({
    enabled: z.boolean(),
    max_iterations: z.number().int().min(1),
    completion_promise: z.string().min(1),
  })
  .partial();

/** The `ralph:` tree of a `config.yaml`. */
const tree = z
  .strictObject({
    enabled: z.boolean(),
    default_max_iterations: z.number().int().min(1),
    verify_promises: z.boolean(),
    require_xml_format: z.boolean(),
    coder: stage,
    reviewer: stage,
    tester: stage,
    qa: stage,
  })
  .partial();

const STAGES = ["coder", "reviewer", "tester", "qa"] as const;

/** Takes the tree in our own words. `strict` says that the whole file is ours. */
async function readRalphTree(text: ConfigText, shown: string, strict: boolean): Promise<Written> {
  const file = (strict ? z.strictObject : z.looseObject)({ ralph: tree.optional() });
  const parsed = file.safeParse(text.value ?? {});
  if (parsed.success) return { ...inOurWords(parsed.data.ralph ?? {}), shown, text };
  const checked = { schema: file, value: text.value, notation: text.notation };
  const { path, text: what } = explainIssues(parsed.error.issues, checked);
  throw new RalphError("config", `${shown}:${lineOf(await text.lines(), path)}: ${what}`);
}

type Tree = z.output<typeof tree>;
type InOurWords = Omit<Written, "shown" | "text">;

/** A tree that speaks of the coder's loop alone means the one stage that there is without a pipeline. */
function inOurWords(ralph: Tree): InOurWords {
  const isSingle = STAGES.every((name) => name === "coder" || ralph[name] === undefined);
  const loops = ralph.enabled !== false && ralph.coder?.enabled !== false;
  return isSingle && loops ? oneStage(ralph) : pipeline(ralph);
}

function oneStage({ coder = {}, default_max_iterations: usual, ...promise }: Tree): InOurWords {
  const { max_iterations: own, completion_promise: completion } = coder;
  const usualPath = ["ralph", "default_max_iterations"];
  const usualLimit = usual === undefined ? null : { value: usual, path: usualPath };
  const ownLimit = own === undefined ? null : { value: own, path: ["ralph", "coder", "max_iterations"] };
  return {
    ...moved([
      ["promise.completion", "ralph.coder.completion_promise", completion],
      ...promiseMoves(promise),
    ]),
    iterationsPerTask: ownLimit ?? usualLimit,
    waiting:
      ownLimit && usualLimit ? [{ path: usualPath, why: "ralph.coder.max_iterations is stronger" }] : [],
  };
}

function pipeline(ralph: Tree): InOurWords {
  const stages = STAGES.filter((name) => name === "coder" || ralph[name] !== undefined);
  const moves = stages.flatMap((name): readonly Move[] => {
    const { enabled, max_iterations: limit, completion_promise: promise } = ralph[name] ?? {};
    const [ours, theirs] = [`stages.${name}`, `ralph.${name}`];
    const limitPath = limit === undefined ? "ralph.default_max_iterations" : `${theirs}.max_iterations`;
    const isEnabled = ralph.enabled !== false && enabled !== false;
    return [
      [`${ours}.enabled`, ralph[name] === undefined ? "ralph" : `${theirs}.enabled`, isEnabled],
      [`${ours}.max_iterations`, limitPath, limit ?? ralph.default_max_iterations],
      [`${ours}.completion_promise`, `${theirs}.completion_promise`, promise],
    ];
  });
  return {
    ...moved([...promiseMoves(ralph), ...moves]),
    iterationsPerTask: null,
    waiting: [],
  };
}

function promiseMoves({ verify_promises: verify, require_xml_format: xml }: Tree): readonly Move[] {
  return [
    ["promise.verify", "ralph.verify_promises", verify],
    ["promise.require_xml", "ralph.require_xml_format", xml],
  ];
}

type Move = readonly [to: string, from: string, value: unknown];

function moved(moves: readonly Move[]): Pick<Written, "value" | "writtenAs"> {
  const value = {};
  for (const [to, , each] of moves) setAt(value, to.split("."), each);
  return { value, writtenAs: new Map(moves.map(([to, from]) => [to, from.split(".")])) };
}
