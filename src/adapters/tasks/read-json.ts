import { JsonError, type JsonNode, parseJsonTree } from "../../core/json.ts";
import { RalphError } from "../../core/errors.ts";

/** Reads JSON from bytes. The tree says which bytes a value has. */
export function readJson(file: Buffer): JsonNode {
  return parseJsonTree(file.toString("latin1"), (raw) => Buffer.from(raw, "latin1").toString("utf8"));
}

/** The same of the operator's file; `path` is for messages. */
export function parseTasksFile(file: Buffer, path: string): JsonNode {
  try {
    return readJson(file);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw badTasks(file, path, error.offset, `this is not JSON; ${error.message}`);
  }
}

/** What is wrong at a byte of the file, with its line and column, as editors count them. */
export function badTasks(file: Buffer, path: string, offset: number, problem: string): RalphError {
  const lines = file
    .toString("utf8", 0, offset)
    .replace(/^\uFEFF/, "")
    .split(LINE_END);
  const column = Array.from(lines.at(-1) ?? "").length + 1;
  return new RalphError("bad-tasks", `${path}:${lines.length}:${column}: ${problem}`);
}

export const LINE_END = /\r\n|\n|\r/;
