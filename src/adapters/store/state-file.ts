import { join, resolve } from "node:path";

/** Where the log lies: in the project's own folder, or where `RALPH_STATE` says, a folder or a `.db` file. */
export function stateFile(place: string | undefined, stateFolder: string): string {
  if (place === undefined || place === "") return join(stateFolder, "state.db");
  return place.endsWith(".db") ? resolve(place) : join(resolve(place), "state.db");
}
