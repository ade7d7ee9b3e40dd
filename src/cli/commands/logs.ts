import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { hasLog, isDriven, openProject, readConfig, type Project } from "../../compose.ts";
import { transcriptOf } from "../../compose-screens.ts";
import type { Recorded } from "../../core/events.ts";
import { transcriptName } from "../../core/projections/transcript-name.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";

const POLL_MS = 200;
/** Each look is a connection. */
const POLL_SHARED_MS = 1_000;

export function define(command: Command, act: Act): void {
  command
    .argument("[iteration]", "its number; without it the last one")
    .option("--follow", "go on printing while the agent works")
    .action((number: string | undefined, flags: { follow?: boolean }) =>
      act((context) => logs(number, flags.follow === true, context)),
    );
}

async function logs(wanted: string | undefined, follow: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const number = wanted === undefined ? (await readState(project)).lastIteration : wholeNumber(wanted);
  const worker = project.queue === null ? undefined : await workerOf(project, number);
  const file = transcriptOf(project, number, worker);
  if (file === null) throw await noTranscript(project, number, worker, context);
  let printed = 0;
  for (;;) {
    const running = follow && (await isRunning(project, number));
    printed = await printFrom(file, printed, context);
    if (!running) return 0;
    await delay(project.queue === null ? POLL_MS : POLL_SHARED_MS);
  }
}

/** Who did it, of several workers. */
async function workerOf(project: Project, iteration: number): Promise<string | undefined> {
  return (await beginningOf(project, iteration))?.worker;
}

async function beginningOf(project: Project, iteration: number): Promise<Recorded | undefined> {
  if (!hasLog(project)) return undefined;
  const types = ["iteration.started"] as const;
  return (await withLog(project, (log) => log.read(0, { iteration, types })))[0];
}

const DAY_MS = 24 * 3_600_000;

async function noTranscript(
  project: Project,
  number: number,
  worker: string | undefined,
  { env }: CliContext,
): Promise<RalphError> {
  if (worker !== undefined)
    return new RalphError("usage", `the transcript of iteration ${number} lies on worker ${worker}`, {
      hint: `what came of it: ralph why ${number}`,
    });
  const began = await beginningOf(project, number);
  const { keep_days: days } = (await readConfig(project, env)).logs;
  if (began !== undefined && days > 0 && Date.now() - began.at > days * DAY_MS)
    return new RalphError(
      "usage",
      `the transcript of iteration ${number} is deleted: it was older than ${days} days`,
      {
        hint: `what came of it: ralph why ${number}; logs.keep_days says how long they are kept`,
      },
    );
  const path = join(project.ralphDir, transcriptName(number));
  const message =
    number === 0 ? "no iteration has run yet" : `there is no transcript of iteration ${number} (${path})`;
  return new RalphError("usage", message, { hint: "ralph history lists the iterations" });
}

async function printFrom(file: string, start: number, { stdout }: CliContext): Promise<number> {
  const { size } = statSync(file);
  if (size > start) await pipeline(createReadStream(file, { start, end: size - 1 }), stdout, { end: false });
  return size;
}

async function isRunning(project: Project, iteration: number): Promise<boolean> {
  if (!(await isDriven(project))) return false;
  return (await readState(project)).iterations.some(
    (open) => open.number === iteration && open.phase.is === "running",
  );
}

function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new RalphError("usage", `"${text}" is not the number of an iteration`, {
    hint: "for example: ralph logs 7",
  });
}
