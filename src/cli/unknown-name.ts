import { closest } from "../core/closest.ts";
import { RalphError } from "../core/ralph-error.ts";

/** Somebody asked for a name that is not there; the nearest right one, and all there are. */
export function unknownName(what: string, name: string, known: readonly string[]): RalphError {
  const meant = closest(name, known);
  const question = meant === null ? "" : `. Did you mean "${meant}"?`;
  return new RalphError("usage", `there is no ${what} "${name}"${question}`, {
    hint: `known: ${known.join(", ") || "none yet"}`,
  });
}
