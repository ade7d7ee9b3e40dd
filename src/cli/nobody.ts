import type { Project } from "../compose.ts";

/** That nothing is under way, in words. */
export function nobody({ queue }: Project): string {
  return queue === null ? "no run is active here" : "no worker is here, or no run is open";
}
