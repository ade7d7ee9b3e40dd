import { fromWire } from "../../core/wire.ts";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { basename } from "node:path";
import { EVENT_VERSION, type Recorded } from "../../core/events.ts";
import { RalphError } from "../../core/errors.ts";
import { upcast } from "./stored-rows.ts";

export interface ExportedEvent {
  readonly line: number;
  readonly event: Recorded;
}

/** The events of a file that `ralph history --jsonl` wrote, one at a time, in today's meaning. */
export async function* readExport(file: string): AsyncGenerator<ExportedEvent> {
  let line = 0;
  let last = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() === "") continue;
      const event = readLine(text, file, line);
      if (event.position <= last)
        throw damaged(file, line, `position ${event.position} comes after position ${last}`);
      last = event.position;
      yield { line, event };
    }
  } catch (error) {
    if (error instanceof RalphError) throw error;
    throw unreadable(file, error);
  }
}

/** A line that is JSON, but not the event it says it is, shows only when somebody works with it. */
export function damaged(file: string, line: number, what = NOT_WHOLE, cause?: unknown): RalphError {
  return new RalphError("usage", `line ${line} of ${basename(file)} is damaged: ${what}`, {
    hint: "export it again: ralph history --jsonl > FILE.jsonl",
    cause,
  });
}

/** What is wrong with a line that has all the marks of an event, and not what belongs to it. */
const NOT_WHOLE = "it is no whole event that this ralph knows";

function readLine(text: string, file: string, line: number): Recorded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(file, line, "it is not JSON");
  }
  const exported = fromWire(value);
  if (typeof exported === "string") throw damaged(file, line, exported);
  const { position, at, v, data } = exported;
  if (v !== null && v > EVENT_VERSION)
    throw new RalphError(
      "usage",
      `line ${line} of ${basename(file)} was written by a newer ralph (its version is ${v}, this ralph knows ${EVENT_VERSION})`,
      { hint: "update ralph" },
    );
  try {
    return { ...upcast(v ?? EVENT_VERSION, data), position, at };
  } catch (cause) {
    throw damaged(file, line, NOT_WHOLE, cause);
  }
}

function unreadable(file: string, error: unknown): RalphError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  const message = code === "ENOENT" ? `there is no file ${file}` : `${file} cannot be read (${code})`;
  return new RalphError("usage", message, {
    hint: "write one: ralph history --jsonl > FILE.jsonl",
    cause: error,
  });
}
