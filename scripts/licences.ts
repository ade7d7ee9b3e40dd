// `npm run licences`: writes docs/reference/licences.md, the licences of everything that is installed with ralph or
// built into its page. A test compares, and refuses a licence that is not on the list.
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";

export interface LicencedPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The first line of its licence that names somebody; empty where none does. */
  readonly copyright: string;
  /** Runs something when it is installed. */
  readonly hasInstallScript: boolean;
  readonly isInPage: boolean;
}

/** Nothing else is asked of who passes these on than to name the authors. */
export const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "(MIT OR CC0-1.0)",
]);

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, "..");
export const LICENCES_PAGE = "docs/reference/licences.md";

if (import.meta.main) {
  writeFileSync(join(root, LICENCES_PAGE), await licencesPage());
  console.log(`licences: ${LICENCES_PAGE}`);
}

/** By name: what is installed with the program, and what is built into the page. */
export function licencedPackages(): readonly LicencedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockEntry>>;
  };
  const inPage = pagePackages(lock.packages);
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, devOptional }]) => path !== "" && ((dev ?? devOptional) !== true || inPage.has(path)),
    )
    .map(([path, entry]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: entry.version ?? "",
      licence: entry.license ?? "unknown",
      copyright: copyrightIn(join(root, path)),
      hasInstallScript: entry.hasInstallScript === true,
      isInPage: inPage.has(path),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}

/** Paths in the lock file of all that the page imports, directly or not. */
function pagePackages(packages: Readonly<Record<string, LockEntry>>): ReadonlySet<string> {
  const sources = globSync("src/web/client/**/*.{ts,tsx}", { cwd: root });
  const imported = sources.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return [...text.matchAll(/^(?:import|export) .*?from "([^."][^"]*)"/gms)].map(([, name = ""]) =>
      packageOf(name),
    );
  });
  const found = new Set<string>();
  const todo = imported.map((name) => `node_modules/${name}`);
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    const entry = packages[path];
    if (entry === undefined || found.has(path)) continue;
    found.add(path);
    todo.push(...Object.keys(entry.dependencies ?? {}).map((name) => `node_modules/${name}`));
  }
  return found;
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function copyrightIn(folder: string): string {
  if (!existsSync(folder)) return ""; // optional, and not for this machine
  const file = readdirSync(folder).find((name) => /^(?:licen[cs]e|copying)/i.test(name));
  if (file === undefined) return "";
  const lines = readFileSync(join(folder, file), "utf8").split("\n");
  const line = lines.find(
    (text) =>
      /^\W*copyright\b.*\w{3}/i.test(text) &&
      !/copyright (?:notice|owner|holder|license|statement)/i.test(text),
  );
  return (line ?? "")
    .replace(/^[\s#*"]+/, "")
    .replaceAll("|", "\\|")
    .trim();
}

export async function licencesPage(): Promise<string> {
  const rows = licencedPackages().map(
    ({ name, version, licence, copyright, isInPage }) =>
      `| ${name} | ${version} | ${licence} | ${isInPage ? "the page" : "the program"} | ${copyright} |`,
  );
  const text = `# Licences

<!-- Made by \`npm run licences\` from package-lock.json and node_modules. Do not edit. -->

Ralph itself is under the MIT licence. It is passed on together with these packages, each under its own licence, whose
text lies in the package's folder in \`node_modules\`:

| Package | Version | Licence | Part of | Copyright |
| --- | --- | --- | --- | --- |
${[...new Set(rows)].join("\n")}
`;
  const path = join(root, LICENCES_PAGE);
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}
