// The types of the library in one file: of all the modules behind src/index.ts just the declarations that somebody who
// imports it can reach.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isolatedDeclarationSync, parseSync } from "rolldown/experimental";

const root = join(import.meta.dirname, "..");

/** One declaration, with the comment before it. */
export interface Declaration {
  readonly name: string;
  readonly text: string;
  /** Whether users can import it. */
  readonly isExported: boolean;
}

interface Module {
  /** Top-level declarations by name. */
  readonly own: ReadonlyMap<string, { readonly text: string; readonly uses: ReadonlySet<string> }>;
  /** Names that come from elsewhere. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/** Every declaration that is reachable from the entry, those that it exports first. */
export function rollUpTypes(entry = join(root, "src", "index.ts")): readonly Declaration[] {
  const modules = new Map<string, Module>();
  const found = new Map<string, Declaration & { readonly from: string }>();
  const moduleAt = (file: string): Module => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };
  const take = (file: string, name: string, isExported: boolean): void => {
    const { own, imported } = moduleAt(file);
    const elsewhere = imported.get(name);
    if (elsewhere !== undefined) return take(elsewhere.file, elsewhere.name, isExported);
    const declaration = own.get(name);
    if (declaration === undefined) return;
    const known = found.get(name);
    if (known !== undefined) {
      if (known.from !== file)
        throw new Error(`two types of the library are called ${name}: ${known.from}, ${file}`);
      return;
    }
    found.set(name, { name, text: declaration.text, isExported, from: file });
    for (const used of declaration.uses) if (used !== name) take(file, used, false);
  };
  const exported = [...moduleAt(entry).imported.keys()];
  for (const name of exported) take(entry, name, true);
  const isExported = new Set(exported);
  const all = [...found.values()].map(({ name, text }) => ({ name, text, isExported: isExported.has(name) }));
  return [...all.filter((one) => one.isExported), ...all.filter((one) => !one.isExported)];
}

/** As a file for compilers. */
export function typesFile(): string {
  const parts = rollUpTypes().map(({ text, isExported }) =>
    isExported ? text : text.replace(/^export /m, ""),
  );
  return `${parts.join("\n\n")}\n\nexport {};\n`;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

function readModule(file: string): Module {
  const { code } = isolatedDeclarationSync(file, readFileSync(file, "utf8"));
  const own = new Map<string, { text: string; uses: Set<string> }>();
  const imported = new Map<string, { file: string; name: string }>();
  const { body } = parseSync("module.d.ts", code).program as unknown as { body: readonly Node[] };
  for (const node of body) {
    const from = node["source"] as { value: string } | null | undefined;
    if (from != null) {
      const target = join(dirname(file), from.value);
      if (!existsSync(target)) continue;
      for (const specifier of node["specifiers"] as readonly Node[]) {
        const local = nameOf(specifier["local"]);
        if (node.type === "ImportDeclaration")
          imported.set(local, { file: target, name: nameOf(specifier["imported"]) });
        else imported.set(nameOf(specifier["exported"]), { file: target, name: local });
      }
      continue;
    }
    const declared = node.type === "ExportNamedDeclaration" ? (node["declaration"] as Node | null) : node;
    if (declared === null || !("id" in declared || "declarations" in declared)) continue;
    const [variable] = (declared["declarations"] ?? []) as readonly Node[];
    const name = nameOf((variable ?? declared)["id"]);
    const text = `${commentBefore(code, node.start)}${withExport(code.slice(node.start, node.end))}`;
    own.set(name, { text, uses: namesIn(declared) });
  }
  return { own, imported };
}

function withExport(text: string): string {
  const declared = text
    .replace(/^export /, "")
    .replace(/^(?:declare )?(class|const|function) /, "declare $1 ");
  return `export ${declared}`;
}

/** The documentation right before a place, with its line break. */
function commentBefore(code: string, start: number): string {
  return /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(code.slice(0, start))?.[0] ?? "";
}

function nameOf(node: unknown): string {
  const { name, value } = (node ?? {}) as { name?: string; value?: string };
  return name ?? value ?? "";
}

/** Every identifier in a declaration; those that name nothing of the module are left alone. */
function namesIn(node: unknown, into = new Set<string>()): Set<string> {
  if (Array.isArray(node)) for (const inner of node) namesIn(inner, into);
  else if (typeof node === "object" && node !== null) {
    const { type, name } = node as { type?: string; name?: unknown };
    if (type === "Identifier" && typeof name === "string") into.add(name);
    for (const inner of Object.values(node)) if (typeof inner === "object") namesIn(inner, into);
  }
  return into;
}
