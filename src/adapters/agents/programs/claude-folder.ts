import { join } from "node:path";
import { textOf } from "../../../core/report/streams/json-fields.ts";

/** Where Claude Code keeps what belongs to its user. */
export function claudeFolder(env: Readonly<Record<string, string | undefined>>): string {
  return textOf(env["CLAUDE_CONFIG_DIR"]) ?? join(env["HOME"] ?? "/", ".claude");
}
