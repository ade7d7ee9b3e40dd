import { execFileSync } from "node:child_process";
import { processListing, type ListedProcess } from "./platform/process-listing.ts";
import { THIS_PLATFORM } from "./platform/this-platform.ts";

const PATIENCE_MS = 10_000;
const OUTPUT_MAX = 64 * 1024 * 1024;

/** All processes, as the system's own program lists them; null when it cannot. */
export function listProcesses(): readonly ListedProcess[] | null {
  const { command, read } = processListing(THIS_PLATFORM);
  const [program = "", ...args] = command;
  try {
    const printed = execFileSync(program, args, {
      encoding: "utf8",
      env: ownEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PATIENCE_MS,
      maxBuffer: OUTPUT_MAX,
      windowsHide: true,
    });
    const rows = read(printed);
    return rows.some(({ pid }) => pid === process.pid) ? rows : null;
  } catch {
    return null; // not installed, or too slow
  }
}

/** Nothing by which it would be taken for one of those that are looked for; times are in our zone. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TZ } = process.env;
  return { PATH, ...(TZ !== undefined && { TZ }), LC_ALL: "C" };
}
