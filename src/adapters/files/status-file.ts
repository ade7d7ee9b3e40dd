import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Status } from "../../core/projections/status.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { prepareRalphFolder } from "./ralph-folder.ts";

/** `status.json` as it is after something was recorded outside of a run. */
export function writeStatusFile(folder: string, status: Status): void {
  if (!existsSync(folder)) prepareRalphFolder(folder);
  writeFileAtomically(join(folder, "status.json"), `${JSON.stringify(status, null, 2)}\n`, {
    durable: false,
  });
}
