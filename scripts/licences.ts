// `npm run licences`: writes docs/reference/licences.md, the licences of everything that is installed with ralph or
// built into it. A test compares, and refuses a licence that is not on the list.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { licencedPackages } from "./licenced-packages.ts";

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

const root = join(import.meta.dirname, "..");
export const LICENCES_PAGE = "docs/reference/licences.md";

if (import.meta.main) {
  writeFileSync(join(root, LICENCES_PAGE), await licencesPage());
  console.log(`licences: ${LICENCES_PAGE}`);
}

export async function licencesPage(): Promise<string> {
  const rows = licencedPackages().map(
    ({ name, version, licence, text, isInPage }) =>
      `| ${name} | ${version} | ${licence} | ${isInPage ? "the page" : "the program"} | ${copyrightIn(text)} |`,
  );
  const page = `# Licences

<!-- Made by \`npm run licences\` from package-lock.json and node_modules. Do not edit. -->

Ralph itself is under the MIT licence. It is passed on together with these packages, each under its own licence. All
but better-sqlite3 are built into it; the texts of their licences are in \`dist/licences.txt\` of the package.

| Package | Version | Licence | Part of | Copyright |
| --- | --- | --- | --- | --- |
${[...new Set(rows)].join("\n")}
`;
  const path = join(root, LICENCES_PAGE);
  return format(page, { ...(await resolveConfig(path)), filepath: path });
}

/** The first line of a licence that names somebody; empty where none does. */
function copyrightIn(text: string): string {
  const line = text
    .split("\n")
    .find(
      (one) =>
        /^\W*copyright\b.*\w{3}/i.test(one) &&
        !/copyright (?:notice|owner|holder|license|statement)/i.test(one),
    );
  return (line ?? "")
    .replace(/^[\s#*"]+/, "")
    .replaceAll("|", "\\|")
    .trim();
}
