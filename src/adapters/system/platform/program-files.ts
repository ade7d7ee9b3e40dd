import { posix, win32 } from "node:path";

/** The files that a program's name may stand for, in the order in which they count. */
export function programFiles(
  platform: NodeJS.Platform,
  name: string,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const isWindows = platform === "win32";
  const path = isWindows ? win32 : posix;
  const hasFolder = (isWindows ? /[/\\]/ : /\//).test(name);
  const folders = hasFolder ? [cwd] : (env["PATH"] ?? "").split(path.delimiter);
  const paths = path.isAbsolute(name) ? [name] : folders.map((folder) => path.join(folder, name));
  return isWindows ? paths.flatMap((file) => withEndings(file, env["PATHEXT"] ?? ENDINGS)) : paths;
}

const ENDINGS = ".COM;.EXE;.BAT;.CMD";

/** Windows runs nothing without one of these endings. */
function withEndings(path: string, known: string): readonly string[] {
  const endings = known.split(";").filter((ending) => ending !== "");
  const hasOne = endings.some((ending) => path.toLowerCase().endsWith(ending.toLowerCase()));
  return hasOne ? [path] : endings.map((ending) => `${path}${ending.toLowerCase()}`);
}
