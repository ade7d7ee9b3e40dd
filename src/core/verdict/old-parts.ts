import type { ChangedFile, GateLine } from "./check-files.ts";
import { type Fields, fieldsOf, isFields } from "../streams/json-fields.ts";
import { onlyGains } from "./only-gains.ts";

/** Names of tools that only run tests: where there were none, new settings of theirs weaken nothing. */
export const ONLY_FOR_TESTS =
  /conftest|vitest|jest|mocha|\bava\b|karma|cypress|playwright|pytest|phpunit|rspec|\bnyc|\bc8|\bcov|junit|testng|nextest|dart_test|nose|behat|codeception|set[-_]?up[-_.]?tests?|tests?[-_.]?set[-_]?up|__mocks__|stryker|infection/i;

/**
 * A file that is both check and program, with the parts that steer checks as they were and the rest as it is. Null
 * when these parts mean the same.
 */
export function mergeOldParts(
  { path, before, after }: ChangedFile & { readonly after: string },
  gates: readonly GateLine[],
  hadTests: boolean,
): string | null {
  const isNewTool = (name: string): boolean => !hadTests && ONLY_FOR_TESTS.test(name);
  const base = path.slice(path.lastIndexOf("/") + 1);
  const plain = PLAIN_SECTIONS.get(base);
  if (plain !== undefined && !(before === null && base === "Cargo.toml")) {
    const split = (text: string): readonly Section[] | null => splitSections(text, base.endsWith(".toml"));
    const [old, now] = [split(before ?? ""), split(after)];
    if (old === null || now === null) return before === after ? null : (before ?? "");
    return mergeSections(old, now, ({ name }) => plain.test(name) || isNewTool(name));
  }
  if (before === null) return null;
  if (/\.jsonc?$/.test(base)) return mergeJson(before, after, gates, isNewTool);
  if (base.endsWith(".rs")) return mergeRustTests(before, after);
  if (base.endsWith(".py")) return mergeDoctests(before, after);
  return keepDependencies(before, after, base === "pom.xml" ? mavenBlockEnd(after) : gradleBlockEnd);
}

/** Keys of package.json, composer.json and deno.json that say what a package is or needs; all others steer tools. */
const PLAIN_KEYS = new Set(
  "name version description keywords homepage bugs license licenses author authors contributors maintainers funding files main browser bin man directories repository repositories dependencies devDependencies peerDependencies peerDependenciesMeta bundleDependencies bundledDependencies optionalDependencies overrides resolutions engines os cpu libc private publishConfig exports imports importMap scopes module types typings typesVersions type sideEffects packageManager devEngines contributes activationEvents publisher displayName icon categories require require-dev autoload autoload-dev conflict replace provide suggest minimum-stability prefer-stable support time lock nodeModulesDir vendor publish $schema".split(
    " ",
  ),
);
const SCRIPT_KEYS = new Set(["scripts", "tasks"]);

function mergeJson(
  before: string,
  after: string,
  gates: readonly GateLine[],
  isPlain: (name: string) => boolean,
): string | null {
  const [old, now] = [parseObject(before), parseObject(after)];
  if (old === null || now === null) return before === after ? null : before;
  const entries = [...new Set([...Object.keys(now), ...Object.keys(old)])].flatMap(
    (key): [string, unknown][] => {
      if (SCRIPT_KEYS.has(key)) return [[key, mergeScripts(fieldsOf(old[key]), fieldsOf(now[key]), gates)]];
      const from = PLAIN_KEYS.has(key) || isPlain(key) ? now : old;
      return Object.hasOwn(from, key) ? [[key, from[key]]] : [];
    },
  );
  const merged = Object.fromEntries(entries);
  if (canonical(merged) === canonical(now)) return null;
  const indent = /^[\t ]+(?=")/m.exec(after)?.[0] ?? "  ";
  return JSON.stringify(merged, null, indent) + (after.endsWith("\n") ? "\n" : "");
}

/** A new script stays if nothing but the work calls it: it neither surrounds an old one nor stands in for a program. */
function mergeScripts(old: Fields, now: Fields, gates: readonly GateLine[]): Fields {
  const lines = [...gates.map(({ command }) => command), ...Object.values(old).map(String)].join("\n");
  const called = new Set(
    [...lines.matchAll(/\b(?:yarn|pnpm|bun)\s+(?!run\b)([\w:.-]+)/g)].map(([, name]) => name),
  );
  const isNew = ([name]: [string, unknown]): boolean =>
    !Object.hasOwn(old, name) && !Object.hasOwn(old, name.replace(/^(?:pre|post)/, "")) && !called.has(name);
  return Object.fromEntries([...Object.entries(old), ...Object.entries(now).filter(isNew)]);
}

function parseObject(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return isFields(value) ? value : null;
  } catch {
    return null; // with comments, or broken: then the whole file is taken as it was
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isFields(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** Sections that say what a package is or needs; all others steer tools. */
const PLAIN_SECTIONS: ReadonlyMap<string, RegExp> = new Map([
  [
    "pyproject.toml",
    /^(?:project|build-system|dependency-groups)\b|^tool\.(?:poetry|uv|setuptools|flit|maturin|scikit-build|cibuildwheel|pdm(?!\.scripts)|hatch(?!\.envs)|rye(?!\.scripts))\b/,
  ],
  ["setup.cfg", /^(?:metadata|options|bdist|egg_info|build|install|sdist|develop)\b/],
  [
    "Cargo.toml",
    /^(?:package|lib|bin|features|badges|patch|replace|target)\b|^workspace\.(?!lints)|(?:^|[.-])dependencies\b/,
  ],
]);
/** Keys of a Cargo target that decide whether its tests run. */
const STEERING_KEY = /^\s*(?:autotests|autobenches|test|tests|doctest|harness)\s*=/;

const LINE_LENGTH_MAX = 10_000;

interface Section {
  readonly name: string;
  readonly lines: readonly string[];
}

function mergeSections(
  old: readonly Section[],
  now: readonly Section[],
  isPlain: (section: Section) => boolean,
): string | null {
  const steering = (sections: readonly Section[]): string =>
    sections
      .flatMap((one) => (isPlain(one) ? one.lines.filter((line) => STEERING_KEY.test(line)) : one.lines))
      .filter((line) => !/^\s*(?:[#;]|$)/.test(line))
      .join("\n");
  if (steering(old) === steering(now)) return null;
  const rest = old.filter(isPlain);
  const kept = now.filter(isPlain).flatMap(({ name, lines }) => {
    const at = rest.findIndex((one) => one.name === name);
    const was = at === -1 ? [] : (rest.splice(at, 1)[0]?.lines ?? []);
    const [head = "", ...own] = lines.filter((line) => !STEERING_KEY.test(line));
    return [head, ...was.filter((line) => STEERING_KEY.test(line)), ...own];
  });
  const [preamble, ...steered] = old.filter((one) => !isPlain(one));
  return [preamble, { lines: kept }, ...steered].flatMap((part) => part?.lines ?? []).join("\n");
}

/** The text before the first header is a section without a name. Null when nobody can tell where sections begin. */
function splitSections(text: string, isToml: boolean): readonly Section[] | null {
  const sections: { name: string; lines: string[] }[] = [{ name: "", lines: [] }];
  let open = 0;
  for (const line of text.split("\n")) {
    if (line.length > LINE_LENGTH_MAX) return null;
    const header = (isToml ? /^\s*\[{1,2}([^\]]+)\]{1,2}\s*(?:#.*)?$/ : /^\[([^\]]+)\]/).exec(line)?.[1];
    if (header !== undefined && open === 0)
      sections.push({ name: header.replaceAll(/["'\s]/g, ""), lines: [line] });
    else {
      sections.at(-1)?.lines.push(line);
      const code = line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*$/g, "");
      if (isToml) open += code.split("[").length - code.split("]").length;
    }
  }
  return open === 0 ? sections : null;
}

function mergeRustTests(before: string, after: string): string | null {
  const [old, now] = [takeBlocks(before, rustTestEnd), takeBlocks(after, rustTestEnd)];
  const [was, is] = [old.blocks.join("\n"), now.blocks.join("\n")];
  if (was === "" || was === is || onlyGains("tests.rs", was, is)) return null;
  return `${now.rest.trimEnd()}\n\n${was}\n`;
}

/** Python's doctest reads examples of `__test__`, too. */
function mergeDoctests(before: string, after: string): string | null {
  const [old, now] = [doctestsIn(before), doctestsIn(after)];
  if (old.every((example) => now.some((more) => `\n${more}\n`.includes(`\n${example}\n`)))) return null;
  return `${after.trimEnd()}\n\n\n__test__ = {"before the task": ${JSON.stringify(old.join("\n\n"))}}\n`;
}

/** Each example, up to a blank line or the end of its text, without the indent. */
function doctestsIn(text: string): readonly string[] {
  return [...text.matchAll(/^([ \t]*)>>> .*(?:\n(?!\s*(?:\n|"""|'''|$)).*)*/gm)].map(([lines, indent = ""]) =>
    lines.replaceAll(`\n${indent}`, "\n").trim(),
  );
}

/** The attribute of a module for tests begins the block, a brace or a semicolon in the first column ends it. */
function rustTestEnd(line: string): RegExp | null {
  return /^#\[cfg\((?:all\(|any\()?\s*test\b/.test(line) ? /^(?:\}|[^\s#}].*;\s*$)/ : null;
}

/** The old text with the new blocks of dependencies. */
function keepDependencies(before: string, after: string, endOf: EndOf): string | null {
  const [old, now] = [takeBlocks(before, endOf), takeBlocks(after, endOf)];
  if (old.rest === now.rest) return null;
  const rest = old.rest.trimEnd();
  const end = rest.endsWith("</project>") ? rest.length - "</project>".length : rest.length;
  return `${rest.slice(0, end)}\n${now.blocks.join("\n")}\n${rest.slice(end)}\n`;
}

function gradleBlockEnd(line: string): RegExp | null {
  return /^(?:dependencies|repositories)\s*\{/.test(line) ? /^\}/ : null;
}

/** Only what stands directly in the project, by its indent: plugins have dependencies, too. */
function mavenBlockEnd(text: string): EndOf {
  const indent = /^([ \t]*)<modelVersion>/m.exec(text)?.[1] ?? "  ";
  return (line) => {
    const name = /^[ \t]*<(dependencies|dependencyManagement|repositories)>\s*$/.exec(line)?.[1];
    return name !== undefined && line.startsWith(`${indent}<`) ? new RegExp(`^${indent}</${name}>`) : null;
  };
}

/** For the first line of a block: what its last line looks like. */
type EndOf = (line: string) => RegExp | null;

function takeBlocks(
  text: string,
  endOf: EndOf,
): { readonly blocks: readonly string[]; readonly rest: string } {
  const blocks: string[][] = [];
  const rest: string[] = [];
  let end: RegExp | null = null;
  for (const line of text.split("\n")) {
    const begins: RegExp | null = end === null ? endOf(line) : null;
    if (begins !== null) blocks.push([line]);
    else if (end === null) rest.push(line);
    else blocks.at(-1)?.push(line);
    if (begins !== null) end = begins;
    else if (end?.test(line) === true) end = null;
  }
  return { blocks: blocks.map((lines) => lines.join("\n")), rest: rest.join("\n") };
}
