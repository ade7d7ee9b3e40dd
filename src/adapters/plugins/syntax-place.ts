import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const FILES_MAX = 20;
const PATIENCE_MS = 10_000;

/**
 * Where the mistake is, as "file:line"; null when nobody can tell. Of most modules Node keeps the place from those who catch the
 * error, so it is asked again about each file that was `imported`. It runs none of them.
 */
export async function syntaxPlace(
  error: unknown,
  imported: readonly string[],
  root: string,
): Promise<string | null> {
  if (!(error instanceof SyntaxError)) return null;
  const told = placeIn(error.stack ?? "", root);
  if (told !== null) return told;
  const files = new Set(imported.filter((url) => /^file:.*\.[mc]?js$/.test(url)).map(fileOf));
  for (const file of [...files].slice(0, FILES_MAX)) {
    const place = placeIn(await complaintOf(file), root);
    if (place !== null) return place;
  }
  return null;
}

/** Node writes it into the first line, before the line of the file itself. */
function placeIn(printed: string, root: string): string | null {
  const [, place, line] = /^(file:\/\/.+|\/.+):(\d+)\n/.exec(printed) ?? [];
  return place === undefined ? null : `${shownIn(root, fileOf(place))}:${line}`;
}

function complaintOf(file: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: PATIENCE_MS };
    execFile(process.execPath, ["--check", file], options, (_error, _stdout, stderr) => resolve(stderr));
  });
}

function fileOf(place: string): string {
  return place.startsWith("file:") ? fileURLToPath(place) : place;
}

function shownIn(root: string, file: string): string {
  const path = relative(realpathSync(root), file);
  return path.startsWith(`..${sep}`) ? file : path;
}
