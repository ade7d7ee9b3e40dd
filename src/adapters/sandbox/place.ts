import { join, relative, sep } from "node:path";

/** One place as an agent sees it. */
export type Place =
  /** What lies at `from` outside. */
  | { readonly is: "shown" | "writable"; readonly path: string; readonly from: string }
  | { readonly is: "link"; readonly path: string; readonly to: string }
  /** A folder without anything, that stays so. */
  | { readonly is: "empty"; readonly path: string }
  /** A file that cannot be read. */
  | { readonly is: "hidden"; readonly path: string }
  /** A folder that is gone with the agent. */
  | { readonly is: "temporary"; readonly path: string };

export function shown(path: string): Place {
  return { is: "shown", path, from: path };
}

export function writable(path: string): Place {
  return { is: "writable", path, from: path };
}

/**
 * In an order in which each can be put into place: a folder before what is in it. Of two for the same path the last
 * counts, and what is there with its folder anyway is left out.
 */
export function arrange(places: readonly Place[]): readonly Place[] {
  const byPath = new Map(places.map((place) => [place.path, place]));
  const ordered = [...byPath.values()].toSorted((a, b) => depthOf(a.path) - depthOf(b.path));
  return ordered.filter((place) => !isThereAnyway(place, ordered));
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function isThereAnyway(place: Place, ordered: readonly Place[]): boolean {
  if (place.is !== "shown") return false;
  const around = ordered.findLast(({ path }) => path !== place.path && isInside(place.path, path));
  return around?.is === "shown" && join(around.from, relative(around.path, place.path)) === place.from;
}

function depthOf(path: string): number {
  return path.split(sep).filter((step) => step !== "").length;
}
