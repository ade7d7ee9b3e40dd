import { posix } from "node:path";
import { bytesOf, textOf, type Git } from "../git/git.ts";
import { LINK_MODE, readEntry, type EntryAt, type TreeEntry } from "./tree-entries.ts";

const HOPS_MAX = 20;

/** The file that a path means in a tree, links followed; with it the links on the way. Empty: there is none. */
export async function followLinks(git: Git, tree: string, path: string): Promise<readonly EntryAt[]> {
  const links: EntryAt[] = [];
  let rest = path.split("/");
  let folder = "";
  while (links.length < HOPS_MAX) {
    const name = rest.shift();
    if (name === undefined) return [];
    const here = posix.join(folder, name);
    if (here === ".." || here.startsWith("../")) return [];
    const entry = here === "." ? null : await readEntry(git, tree, here);
    if (entry === null && here !== ".") return [];
    if (entry?.mode === LINK_MODE) {
      const target = textOf(await git.must(["cat-file", "blob", entry.oid]));
      if (target.startsWith("/")) return [];
      links.push([bytesOf(here), entry]);
      rest = [...target.split("/"), ...rest];
    } else if (rest.length === 0) {
      return isFile(entry) ? [...links, [bytesOf(here), entry]] : [];
    } else {
      folder = here;
    }
  }
  return [];
}

function isFile(entry: TreeEntry | null): boolean {
  return entry !== null && entry.mode.startsWith("100");
}
