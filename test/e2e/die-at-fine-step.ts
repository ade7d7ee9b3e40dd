import fs from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Death, IsDue } from "./die-at-step.ts";

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** By path. What is asked for something that is open is known by its descriptor instead. */
const BY_PATH = [
  "appendFile",
  "chmod",
  "copyFile",
  "cp",
  "link",
  "mkdir",
  "mkdtemp",
  "open",
  "rename",
  "rm",
  "rmdir",
  "symlink",
  "truncate",
  "unlink",
  "utimes",
  "writeFile",
] as const;
const BY_DESCRIPTOR = ["write", "writev", "ftruncate"] as const;
const OF_HANDLES = ["write", "writev", "writeFile", "appendFile", "truncate"] as const;

/** Everything that changes a file below the folder, and every statement that changes a database. */
export async function watchFinely(death: Death, isDue: IsDue, die: () => never): Promise<void> {
  const meets = meeting(death, isDue, die);
  for (const name of BY_PATH) {
    watch(fs, `${name}Sync`, (args) => meets(name, args[0], args[1]));
    watch(fs.promises, name, (args) => meets(name, args[0], args[1]));
  }
  for (const name of BY_DESCRIPTOR) {
    watch(fs, `${name}Sync`, (args) => meets(name, args[0], args[1]));
    watch(fs, name, (args) => meets(name, args[0], args[1]));
  }
  const handle = await fs.promises.open(import.meta.filename);
  for (const name of OF_HANDLES)
    watch(Object.getPrototypeOf(handle) as object, name, (args, self) =>
      meets(name, (self as { fd: number }).fd, args[0]),
    );
  await handle.close();
  watchStatements(death, isDue, die);
}

type Meets = (name: string, target: unknown, detail: unknown) => void;

function meeting({ when, folder }: Death, isDue: IsDue, die: () => never): Meets {
  const original = { writeSync: fs.writeSync, openSync: fs.openSync };
  /** Half of a text, as far as it came. */
  const writeHalf = (name: string, target: number | string, detail: unknown): void => {
    const whole = typeof detail === "string" ? Buffer.from(detail) : detail;
    if (!(whole instanceof Uint8Array)) return;
    const flags = name === "appendFile" ? "a" : "w";
    const file = typeof target === "number" ? target : original.openSync(target, flags);
    original.writeSync(file, whole.subarray(0, Math.floor(whole.length / 2)));
  };
  return (name, target, detail) => {
    if (name === "open" && !isForWriting(detail)) return;
    const path = typeof target === "number" ? pathOf(target) : String(target);
    if (!path.startsWith(folder)) return;
    if (!isDue(`${name} ${path.slice(folder.length)}`)) return;
    if (when === "half-way") {
      if (name === "rm") removeOne(path);
      else if (/write|append/.test(name)) writeHalf(name, typeof target === "number" ? target : path, detail);
    }
    die();
  };
}

function isForWriting(flags: unknown): boolean {
  if (typeof flags === "number")
    return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT)) !== 0;
  return typeof flags === "string" && /[wa+]/.test(flags);
}

function pathOf(descriptor: number): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // closed meanwhile: the call itself will say so
  }
}

/** The first file of a folder, as a removal that has just begun. */
export function removeOne(folder: string): void {
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const [file] = fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile());
  if (file !== undefined) fs.unlinkSync(join(file.parentPath, file.name));
}

let isInside = false;

/** What Node does by itself inside of a call is not a step of its own. */
function watch(holder: object, name: string, first: (args: readonly unknown[], self: unknown) => void): void {
  const functions = holder as Functions;
  const original = functions[name];
  if (original === undefined) return;
  functions[name] = function (this: unknown, ...args) {
    if (isInside) return original.apply(this, args);
    first(args, this);
    isInside = true;
    try {
      return original.apply(this, args);
    } finally {
      isInside = false;
    }
  };
}

function watchStatements({ folder }: Death, isDue: IsDue, die: () => never): void {
  const require = createRequire(import.meta.url);
  const Database = require("better-sqlite3") as new (file: string) => {
    prepare(sql: string): object;
    close(): void;
  };
  const meets = (sql: string, database: { readonly name: string }): void => {
    if (!database.name.startsWith(folder)) return;
    if (isDue(`sqlite ${database.name.slice(folder.length)} ${sql.slice(0, 60)}`)) die();
  };
  const db = new Database(":memory:");
  watch(Object.getPrototypeOf(db.prepare("SELECT 1")) as object, "run", (_args, self) => {
    const { source, database } = self as { readonly source: string; readonly database: { name: string } };
    meets(source, database);
  });
  db.close();
  for (const name of ["exec", "pragma"])
    watch(Database.prototype as object, name, ([sql], self) => {
      if (/^(user_version|data_version|integrity_check[^=]*)$/.test(String(sql))) return;
      meets(String(sql), self as { name: string });
    });
  watch(Database.prototype as object, "close", (_args, self) => meets("close", self as { name: string }));
}
