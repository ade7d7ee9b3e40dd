import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package that is passed on with ralph: installed with it, or built into it. */
export interface LicencedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The text of its licence; empty where it brings none along. */
  readonly text: string;
  /** Runs something when it is installed. */
  readonly hasInstallScript: boolean;
  readonly isInPage: boolean;
  /** From our registry, with a hash; null where the lock file does not say. */
  readonly resolved: string | null;
  readonly integrity: string;
}

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, LockEntry>>;

const root = join(import.meta.dirname, "..");

/** By name: what is installed with the program, and what is built into it or into its page. */
export function licencedPackages(): readonly LicencedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Lock;
  };
  const installed = Object.keys(packages[""]?.dependencies ?? {});
  const page = globSync("src/web/client/**/*.{ts,tsx}", { cwd: root });
  const program = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) => !page.includes(path) && !path.endsWith(".test.ts"),
  );
  const inPage = reachable(packages, importedBy(page));
  const inProgram = reachable(packages, [...installed, ...importedBy(program)]);
  return [...new Set([...inProgram, ...inPage])]
    .map((path) => licencedPackage(path, packages[path] ?? {}, !inProgram.has(path)))
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}

function licencedPackage(path: string, entry: LockEntry, isInPage: boolean): LicencedPackage {
  return {
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version: entry.version ?? "",
    licence: entry.license ?? "unknown",
    text: licenceIn(join(root, path)),
    hasInstallScript: entry.hasInstallScript === true,
    isInPage,
    resolved: entry.resolved ?? null,
    integrity: entry.integrity ?? "",
  };
}

/** The names of the packages that sources import, types left out. */
function importedBy(sources: readonly string[]): readonly string[] {
  return sources.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const imports = text.matchAll(
      /^(?:import|export) (?!type ).*?from "([^."][^"]*)"|import\("([^."][^"]*)"\)/gms,
    );
    return [...imports]
      .map(([, fixed, asked]) => packageOf(fixed ?? asked ?? ""))
      .filter((name) => !name.startsWith("node:"));
  });
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Paths in the lock file of these packages and all that they need. */
function reachable(packages: Lock, names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const todo = names.map((name) => placeOf(packages, "", name));
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const entry = path === null ? undefined : packages[path];
    if (path === null || entry === undefined || found.has(path)) continue;
    found.add(path);
    const needed = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    todo.push(...needed.map((name) => placeOf(packages, path, name)));
  }
  return found;
}

/** Looks where Node would look: beside the owner, then outwards. */
function placeOf(packages: Lock, owner: string, name: string): string | null {
  for (let folder = owner; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    const place = join(folder, "node_modules", name);
    if (packages[place] !== undefined) return place;
    if (folder === "") return null;
  }
}

function licenceIn(folder: string): string {
  if (!existsSync(folder)) return ""; // optional, and not for this machine
  const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)/i.test(name));
  return file === undefined ? "" : readFileSync(join(folder, file), "utf8");
}

/** One text with the licences of all that is passed on, as those ask for. */
export function licencesText(): string {
  const parts = licencedPackages().map(
    ({ name, version, licence, text }) =>
      `${name} ${version} (${licence})\n\n${text.trim() || "It brings no text of its licence along."}\n`,
  );
  return `Ralph is built from these packages as well, each under its own licence.\n\n${[...new Set(parts)].join(`\n${"-".repeat(80)}\n\n`)}`;
}
