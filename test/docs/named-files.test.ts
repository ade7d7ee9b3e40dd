import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = globSync("{src,test,bench,scripts,bin,examples}/**/*.{ts,cjs,sh}", { cwd: ROOT }).map(
  (path) => `/${path}`,
);
/** Names that stand for any name. */
const PLACEHOLDERS = ["./my-plugin.ts", "kebab-case.ts", "x.ts", "x.test.ts"];

const pages = globSync("{*.md,docs/**/*.md}", { cwd: ROOT });

test.each(pages)("every source file named in %s exists", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const named = [...text.matchAll(/`([\w./-]+\.(?:ts|cjs|sh))`/g)].map((match) => match[1] ?? "");
  // A page may leave out the folders that are clear from the context.
  const missing = named.filter((name) => !FILES.some((path) => path.endsWith(`/${name}`)));
  expect(missing.filter((name) => !PLACEHOLDERS.includes(name))).toEqual([]);
});

test.each(pages)("every link in %s leads somewhere", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? "");
  expect(links.filter((link) => !existsSync(join(ROOT, page, "..", link)))).toEqual([]);
});
