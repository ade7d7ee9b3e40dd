import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  type Stats,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import type { CommitRequest } from "../../engine/ports.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { fileError } from "../system/file-error.ts";
import type { Checkout } from "./checkout.ts";
import { bytesOf, textOf } from "../git/git.ts";
import type { Content } from "./kept-files.ts";

/** Where the agent's versions go: `logs/put-back/iteration-007/` in our folder. No link is ever followed. */
export class PutAside {
  readonly #checkout: Checkout;
  readonly #name: string;

  constructor(checkout: Checkout, { iteration }: CommitRequest) {
    this.#checkout = checkout;
    this.#name = `iteration-${String(iteration).padStart(3, "0")}`;
  }

  /** What was written down in this iteration, or null. */
  readRecord(): unknown {
    const path = join(this.#checkout.ralphDir, "logs", "put-back", `${this.#name}.json`);
    try {
      return lstatSync(path).isFile() ? (JSON.parse(readFileSync(path, "utf8")) as unknown) : null;
    } catch {
      return null; // none, or somebody else's
    }
  }

  writeRecord(record: unknown): void {
    const path = join(this.#folder(), `${this.#name}.json`);
    if (kindOf(path) !== "file") rmSync(path, { recursive: true, force: true });
    writeFileAtomically(path, `${JSON.stringify(record)}\n`);
  }

  /** Takes whatever is at the path out of the work tree, and what stands in the way to it. Paths are git's bytes. */
  take(bytes: string): void {
    const parts = bytes.replace(/\/$/, "").split("/");
    for (let length = 1; length < parts.length; length += 1) {
      const parent = parts.slice(0, length).join("/");
      const kind = kindOf(this.#inTree(parent));
      if (kind === "missing") return;
      if (kind === "folder") continue;
      this.#move(parent, `${parent}.in-the-way`);
      return;
    }
    const path = parts.join("/");
    if (kindOf(this.#inTree(path)) !== "missing") this.#move(path, path);
  }

  /** Removes the folders above the path that are empty now. */
  prune(bytes: string): void {
    for (let at = posix.dirname(bytes.replace(/\/$/, "")); at !== "."; at = posix.dirname(at)) {
      try {
        rmdirSync(this.#inTree(at));
      } catch {
        return; // not empty, or not there
      }
    }
  }

  /** Writes what was there; the way has been cleared. */
  write(bytes: string, content: Content): void {
    const path = join(this.#checkout.root, textOf(bytes));
    try {
      if (content.is === "file" || content.is === "link") mkdirSync(dirname(path), { recursive: true });
      if (content.is === "link") symlinkSync(content.target, path);
      if (content.is !== "file") return;
      writeFileAtomically(path, content.bytes);
      chmodSync(path, content.mode);
    } catch (error) {
      throw fileError(error, path);
    }
  }

  #move(from: string, to: string): void {
    const source = this.#inTree(from);
    const target = this.#free(to);
    try {
      renameSync(source, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw fileError(error, textOf(from));
      cpSync(source.toString(), target.toString(), { recursive: true, verbatimSymlinks: true });
      rmSync(source, { recursive: true, force: true });
    }
  }

  /** A place for it that is not taken; the first version keeps the plain name. */
  #free(bytes: string): Buffer {
    let folder = bytesOf(join(this.#folder(), this.#name));
    makeFolder(pathOf(folder));
    for (const part of posix.dirname(bytes).split("/")) {
      const isTaken = !["missing", "folder"].includes(kindOf(pathOf(join(folder, part))));
      folder = join(folder, isTaken ? `${part}~folder` : part);
      makeFolder(pathOf(folder));
    }
    const name = posix.basename(bytes);
    for (let number = 1; ; number += 1) {
      const path = pathOf(join(folder, number === 1 ? name : `${name}~${number}`));
      if (kindOf(path) === "missing") return path;
    }
  }

  #folder(): string {
    const { root, ralphDir, ralphPrefix } = this.#checkout;
    let folder = ralphPrefix === null ? ralphDir : root;
    mkdirSync(folder, { recursive: true });
    const way = (ralphPrefix ?? "").split("/").filter((name) => name !== "");
    for (const name of [...way, "logs", "put-back"]) {
      folder = join(folder, name);
      makeFolder(folder);
    }
    return folder;
  }

  #inTree(bytes: string): Buffer {
    return pathOf(join(bytesOf(this.#checkout.root), bytes));
  }
}

function pathOf(bytes: string): Buffer {
  return Buffer.from(bytes, "latin1");
}

/** Nobody but us writes there: a link or a file in its place is the agent's. */
function makeFolder(path: string | Buffer): void {
  const kind = kindOf(path);
  if (kind === "folder") return;
  if (kind !== "missing") rmSync(path, { force: true });
  mkdirSync(path);
}

function kindOf(path: string | Buffer): "missing" | "folder" | "file" | "other" {
  let stats: Stats | undefined;
  try {
    stats = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return "missing"; // below something that is not a folder
  }
  if (stats === undefined) return "missing";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "other";
}
