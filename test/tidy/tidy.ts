// Reads the tree and lists what breaks the habits of this project. Each rule is one function below.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { layerFinding } from "./layers.ts";
import { checkSizes, countLines, type Size } from "./sizes.ts";

export type Finding = string;

/** A source file, parsed. Paths are relative to the root of the tree, with forward slashes. */
type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
  readonly imports: readonly Import[];
  readonly functions: readonly Span[];
  readonly comments: readonly Span[];
  readonly uses: readonly Use[];
  readonly exports: readonly Use[];
  readonly lineOf: (offset: number) => number;
};
type Import = { readonly specifier: string; readonly start: number; readonly isTypeOnly: boolean };
type Span = { readonly start: number; readonly end: number; readonly text: string };
type Use = { readonly name: string; readonly start: number };

const folders = ["src", "test", "scripts", "bench", "examples"];
const fileLinesMax = 500;
const functionLinesMax = 70;
const bannedNames = ["utils", "util", "helpers", "helper", "common", "manager", "service", "base"];

/**
 * Gives one message for each place in the tree under `root` that breaks a rule, in the order of the files,
 * and one for each folder that does not fit its entry in `sizes`.
 */
export function tidy(root: string, sizes?: Readonly<Record<string, Size>>): Finding[] {
  const paths = folders.flatMap((folder) =>
    globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude: ["**/node_modules"] }),
  );
  const files = paths.toSorted().map((path) => readSource(root, path));
  const perFile = files.flatMap((file) => [
    ...checkName(file),
    ...checkImports(root, file),
    ...checkExports(file),
    ...checkUses(file),
    ...checkGit(file),
    ...checkComments(file),
    ...checkFunctions(file),
    ...checkLength(file),
  ]);
  return [...perFile, ...findCycles(files), ...(sizes === undefined ? [] : checkSizes(files, sizes))];
}

function checkName({ path }: SourceFile): Finding[] {
  const name = basename(path).replace(/\.tsx?$/, "");
  const findings: Finding[] = [];
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)?$/.test(name)) {
    findings.push(`${path}:1: the file name is not kebab-case; rename it`);
  }
  const banned = path
    .split(/[/.]/)
    .find((part) => part.split("-").some((word) => bannedNames.includes(word)));
  if (banned !== undefined) {
    findings.push(
      `${path}:1: "${banned}" says nothing about the content; name the file after its main export`,
    );
  }
  return findings;
}

function checkImports(root: string, file: SourceFile): Finding[] {
  if (!file.path.startsWith("src/")) return [];
  return file.imports.flatMap(({ specifier, start }) => {
    const where = `${file.path}:${file.lineOf(start)}`;
    const target = resolveImport(file.path, specifier);
    if (target !== undefined && !existsSync(join(root, target))) {
      return [`${where}: ${specifier} does not exist; write the path with its .ts extension`];
    }
    const reason = layerFinding(file.path, target ?? specifier, file.isTest);
    return reason === undefined ? [] : [`${where}: ${reason}`];
  });
}

function checkExports({ path, exports, lineOf }: SourceFile): Finding[] {
  if (!path.startsWith("src/")) return [];
  return exports.map(({ name, start }) =>
    name === "default"
      ? `${path}:${lineOf(start)}: export default; give the export a name`
      : `${path}:${lineOf(start)}: export *; import from the file that declares the name`,
  );
}

function checkUses({ path, uses, isTest, lineOf }: SourceFile): Finding[] {
  if (!path.startsWith("src/") || isTest) return [];
  const inCore = path.startsWith("src/core/");
  const mayPrint = path.startsWith("src/cli/") || path === "src/main.ts" || path === "src/demo-agent.ts";
  return uses.flatMap(({ name, start }) => {
    const where = `${path}:${lineOf(start)}`;
    if (inCore) return [`${where}: ${name} in core; core is pure, so take the value as an argument`];
    if (name === "console" && !mayPrint)
      return [`${where}: console outside src/cli; return or throw instead`];
    return [];
  });
}

/** Its settings keep a repository from starting programs; the demo agent is on the other side. */
function checkGit({ path, text, isTest, lineOf }: SourceFile): Finding[] {
  if (!path.startsWith("src/") || isTest || gitStarters.includes(path)) return [];
  return [...text.matchAll(/\b(?:spawn|exec|fork|run|ask)\w*\(\s*["'`]git["'`]/g)].map(
    ({ index }) => `${path}:${lineOf(index)}: starts git by itself; go through ${gitStarters[0]}`,
  );
}

const gitStarters: readonly string[] = ["src/adapters/git/git.ts", "src/demo-agent.ts"];

function checkComments({ path, comments, lineOf }: SourceFile): Finding[] {
  return comments.flatMap(({ text, start }) => {
    const word = /\b(TODO|FIXME|XXX)\b/.exec(text);
    if (word === null) return [];
    return [`${path}:${lineOf(start + 2 + word.index)}: left-over ${word[0]}; do it now or drop it`];
  });
}

function checkFunctions({ path, functions, isTest, lineOf }: SourceFile): Finding[] {
  if (isTest) return [];
  return functions.flatMap(({ start, end, text }) => {
    const lines = lineOf(end) - lineOf(start) + 1;
    if (lines <= functionLinesMax) return [];
    return [
      `${path}:${lineOf(start)}: ${text} has ${lines} lines, at most ${functionLinesMax} are allowed; split it`,
    ];
  });
}

function checkLength({ path, text }: SourceFile): Finding[] {
  const lines = countLines(text);
  const max = fileLinesMax;
  return lines <= max
    ? []
    : [`${path}:${max + 1}: ${lines} lines, at most ${max} are allowed; split the file`];
}

/** Each cycle once, named from its first file in the alphabet. Type-only imports vanish and cannot form one. */
function findCycles(files: readonly SourceFile[]): Finding[] {
  const targets = new Map(files.map((file) => [file.path, valueImports(file)]));
  const done = new Set<string>();
  const findings: Finding[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      const cycle = [...trail.slice(at), path].join(" → ");
      findings.push(`${path}:1: import cycle ${cycle}; move what both need into a third file`);
      return;
    }
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return findings;
}

function valueImports({ path, imports }: SourceFile): string[] {
  return imports
    .filter((one) => !one.isTypeOnly)
    .map((one) => resolveImport(path, one.specifier))
    .filter((target) => target !== undefined);
}

/** The path of an imported file, or undefined for a package. */
function resolveImport(from: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? join(dirname(from), specifier) : undefined;
}

function readSource(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const { program, comments, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
  return {
    path,
    text,
    isTest: /\.test\.tsx?$/.test(path) || path.startsWith("test/"),
    comments: comments.map(({ value, start, end }) => ({ text: value, start, end })),
    lineOf: (offset) => lineStarts.findLastIndex((start) => start <= offset) + 1,
    ...collect(program),
  };
}

type Program = ReturnType<typeof parseSync>["program"];

function collect(program: Program): Pick<SourceFile, "imports" | "functions" | "uses" | "exports"> {
  const imports: Import[] = [];
  const functions: Span[] = [];
  const uses: Use[] = [];
  const exports: Use[] = [];
  const addFunction = (node: { start: number; end: number; id?: { name: string } | null }): void => {
    functions.push({
      start: node.start,
      end: node.end,
      text: node.id ? `function ${node.id.name}` : "a function",
    });
  };
  new Visitor({
    ImportDeclaration: ({ source, start, importKind }) => {
      imports.push({ specifier: source.value, start, isTypeOnly: importKind === "type" });
    },
    ExportNamedDeclaration: ({ source, start, exportKind }) => {
      if (source) imports.push({ specifier: source.value, start, isTypeOnly: exportKind === "type" });
    },
    ExportAllDeclaration: ({ source, start, exportKind }) => {
      imports.push({ specifier: source.value, start, isTypeOnly: exportKind === "type" });
      exports.push({ name: "*", start });
    },
    ExportDefaultDeclaration: ({ start }) => exports.push({ name: "default", start }),
    // A lazy import cannot form a cycle while files load, but its direction counts.
    ImportExpression: ({ source, start }) => {
      if (source.type === "Literal" && typeof source.value === "string") {
        imports.push({ specifier: source.value, start, isTypeOnly: true });
      }
    },
    TSImportType: ({ source, start }) => imports.push({ specifier: source.value, start, isTypeOnly: true }),
    FunctionDeclaration: addFunction,
    FunctionExpression: addFunction,
    ArrowFunctionExpression: addFunction,
    MemberExpression: ({ object, property, start }) => {
      if (object.type !== "Identifier" || property.type !== "Identifier") return;
      const name = `${object.name}.${property.name}`;
      if (name === "Date.now" || name === "Math.random") uses.push({ name, start });
      if (object.name === "process" || object.name === "console") uses.push({ name: object.name, start });
    },
    NewExpression: ({ callee, arguments: args, start }) => {
      if (callee.type === "Identifier" && callee.name === "Date" && args.length === 0) {
        uses.push({ name: "new Date()", start });
      }
    },
  }).visit(program);
  return { imports, functions, uses, exports };
}
