import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../../core/errors.ts";

/** The real place of a path below `root`, symbolic links followed; refuses one that leads outside. */
export function safePath(root: string, path: string): string {
  const realRoot = realpathSync(root);
  const wanted = resolve(realRoot, path);
  if (isOutside(realRoot, wanted)) throw leadsOutside(root, path);
  const real = follow(wanted, path, root);
  if (isOutside(realRoot, real)) throw leadsOutside(root, path);
  return real;
}

const LINKS_MAX = 40;

/** Like realpath, but what does not exist (yet) is taken as it is written. */
function follow(wanted: string, path: string, root: string): string {
  let done: string = sep;
  let todo = wanted.split(sep).filter((part) => part !== "");
  for (let links = 0; todo.length > 0;) {
    const [part = "", ...rest] = todo;
    const here = part === ".." ? dirname(done) : join(done, part);
    if (!isLink(here)) {
      done = here;
      todo = rest;
      continue;
    }
    links += 1;
    if (links > LINKS_MAX) throw leadsOutside(root, path);
    const target = readlinkSync(here);
    if (isAbsolute(target)) done = sep;
    todo = [...target.split(sep).filter((piece) => piece !== "" && piece !== "."), ...rest];
  }
  return done;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  } catch {
    return false; // below something that is not a folder: whoever opens it will say so
  }
}

export function isOutside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
}

function leadsOutside(root: string, path: string): RalphError {
  return new RalphError("not-writable", `${path} leads outside of ${root}`, {
    hint: "remove the symbolic link, or name a path inside",
  });
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The PATH without our own installation: a user's tests must not run on the Node that we bring along. */
export function outsidePath(path: string | undefined, ownRoot: string): string {
  const own = join(resolve(ownRoot), "node_modules") + sep;
  return (path ?? DEFAULT_PATH)
    .split(delimiter)
    .filter((folder) => folder === "" || !`${resolve(folder)}${sep}`.startsWith(own))
    .join(delimiter);
}

/** Where we are installed, looked for upwards: the folder may be one of the sources or of the bundle. */
export function ownRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) || folder === dirname(folder)
    ? folder
    : ownRoot(dirname(folder));
}
