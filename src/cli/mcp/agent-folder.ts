import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { fieldsOf, type Fields } from "../../core/report/streams/json-fields.ts";

/** The folder of one iteration, as programs on the agent's side see it. */
export interface AgentFolder {
  /** As it was when the folder was opened. */
  readonly task: Fields;
  /** Adds one report, whole or not at all; what is wrong with the file is thrown as it comes. */
  add(report: Fields): void;
}

// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

export function openAgentFolder(folder: string): AgentFolder {
  const reports = join(folder, ITERATION_FILES.reports);
  return {
    task: readTask(folder),
    add(report) {
      const file = openSync(reports, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        // In one write, since agents may run several of us at a time.
        writeSync(file, `${JSON.stringify(report)}\n`);
      } finally {
        closeSync(file);
      }
    },
  };
}

function readTask(folder: string): Fields {
  try {
    return fieldsOf(JSON.parse(readFileSync(join(folder, ITERATION_FILES.task), "utf8")));
  } catch (error) {
    throw new RalphError("usage", `${folder} is not the folder of an iteration that runs now`, {
      hint: "runs make such a folder for each iteration, and start this server by themselves",
      cause: error,
    });
  }
}
