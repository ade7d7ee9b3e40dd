import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Command } from "commander";
import { hasLog, readState, withLog } from "../../app/project-log.ts";
import { isDriven, openProject, type Project, readConfig } from "../../app/project.ts";
import { openTranscript, transcriptOf } from "../../app/screens.ts";
import { RalphError } from "../../core/errors.ts";
import type { Recorded } from "../../core/events.ts";
import type { Style } from "../../core/text.ts";
import { clockTime, isoTime } from "../../core/time.ts";
import { count } from "../../core/views/explain-words.ts";
import { transcriptName } from "../../core/views/ralph-files.ts";
import type { TranscriptEntry } from "../../core/views/transcript.ts";
import {
  createEntryPrinter,
  entryLines,
  type EntryPrinter,
  tellsTime,
  TIME_COLUMNS,
} from "../../core/views/transcript-lines.ts";
import type { Act, CliContext } from "../commands.ts";
import { untilDrained } from "../print/output.ts";

interface Flags {
  readonly follow?: boolean;
  readonly full?: boolean;
  readonly raw?: boolean;
  readonly json?: boolean;
  readonly search?: string;
}

const POLL_MS = 200;
/** Each look is a connection. */
const POLL_SHARED_MS = 1_000;

export function define(command: Command, act: Act): void {
  command
    .argument("[iteration]", "its number; without it the last one, or with --search all of them")
    .option("--follow", "go on printing while the agent works")
    .option("--full", "with thoughts, and the input and result of each tool call")
    .option("--raw", "the agent's output as it came")
    .option("--search <words>", "only the entries that hold these words, in any case")
    .option("--json", "print each entry as a line of JSON")
    .action(act(logs));
}

async function logs(context: CliContext, wanted: string | undefined, flags: Flags): Promise<number> {
  checkFlags(flags);
  const project = await openProject(context);
  if (wanted !== undefined && !/^\d+$/.test(wanted))
    throw refusal(`"${wanted}" is not the number of an iteration`, "for example: ralph logs 7");
  if (flags.search !== undefined && wanted === undefined)
    return searchAll(project, flags.search, flags, context);
  const number = wanted === undefined ? (await readState(project)).lastIteration : Number(wanted);
  // Who did it, of several workers.
  const worker = project.queue === null ? undefined : (await beginningOf(project, number))?.worker;
  const file = transcriptOf(project, number, worker);
  if (file === null) throw await noTranscript(project, number, worker);
  if (flags.search !== undefined)
    await searchOne({ project, number, file, words: flags.search, flags, context });
  else if (flags.raw === true) await printRaw(project, number, file, flags, context);
  else await printEntries(project, number, file, flags, context);
  return 0;
}

function checkFlags({ follow, full, raw, json, search }: Flags): void {
  const others = { "--full": full, "--json": json, "--search": search };
  const [clash] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (raw === true && clash !== undefined)
    throw refusal(`--raw does not go with ${clash}`, "leave one of them out");
  if (search === undefined) return;
  if (follow === true) throw refusal("--search does not go with --follow", "leave one of them out");
  if (search.trim() === "")
    throw refusal("there are no words to search for", 'for example: ralph logs --search "npm test"');
}

function refusal(message: string, hint: string): RalphError {
  return new RalphError("usage", message, { hint });
}

async function printEntries(
  project: Project,
  number: number,
  file: string,
  flags: Flags,
  context: CliContext,
): Promise<void> {
  const { stdout } = context;
  const transcript = await openTranscript(project, file);
  let printer: EntryPrinter | null = null;
  const printerNow = (): EntryPrinter =>
    (printer ??= createEntryPrinter((text) => stdout.write(text), {
      style: context.style,
      isFull: flags.full === true,
      clock: tellsTime(transcript.format) ? clockTime : null,
    }));
  try {
    for (;;) {
      const running = flags.follow === true && (await isRunning(project, number));
      for await (const entry of transcript.entries(!running)) {
        if (flags.json === true) stdout.write(`${JSON.stringify(wireEntry(number, entry))}\n`);
        else printerNow().entry(entry);
        if (!(await untilDrained(stdout))) return;
      }
      if (!running) return;
      if (flags.json !== true) printerNow().head(transcript.head);
      await delay(pollMs(project));
    }
  } finally {
    await transcript.close();
  }
}

function wireEntry(iteration: number, entry: TranscriptEntry): object {
  const { kind, at, title, brief, state, isNested, costUsd, input, result, diff } = entry;
  const isCall = kind === "tool" || kind === "edit";
  return {
    iteration,
    at: at === null ? null : isoTime(at),
    kind,
    title: title.replace(/\n$/, ""),
    ...(isCall && { state, brief }),
    ...(isNested && { nested: true }),
    ...(input !== "" && { input }),
    ...(result !== "" && { result }),
    ...(diff !== "" && { diff }),
    ...(costUsd !== null && { cost_usd: costUsd }),
  };
}

interface Search {
  readonly project: Project;
  readonly number: number;
  readonly file: string;
  readonly words: string;
  readonly flags: Flags;
  readonly context: CliContext;
  readonly task?: string | undefined;
}

async function searchAll(
  project: Project,
  words: string,
  flags: Flags,
  context: CliContext,
): Promise<number> {
  const begun = hasLog(project)
    ? await withLog(project, (log) => log.read(0, { types: ["iteration.started"] }))
    : [];
  let entries = 0;
  let iterations = 0;
  for (const event of begun) {
    if (event.type !== "iteration.started") continue;
    const { iteration: number, task } = event;
    const file = transcriptOf(project, number, project.queue === null ? undefined : event.worker);
    if (file === null) continue;
    const found = await searchOne({ project, number, file, words, flags, context, task });
    entries += found;
    iterations += found > 0 ? 1 : 0;
  }
  const what = entries === 1 ? "1 entry" : `${entries} entries`;
  const where = iterations === 1 ? "1 iteration" : `${iterations} iterations`;
  context.say(
    entries === 0 ? `Nothing found in ${count(begun.length, "iteration")}.` : `${what} in ${where}`,
  );
  return 0;
}

/** Answers how many entries it has printed. */
async function searchOne({ project, number, file, words, flags, context, task }: Search): Promise<number> {
  const { stdout, style } = context;
  const transcript = await openTranscript(project, file);
  let found = 0;
  try {
    for await (const { entry, line } of transcript.search(words)) {
      found += 1;
      if (flags.json === true) stdout.write(`${JSON.stringify(wireEntry(number, entry))}\n`);
      else {
        if (found === 1 && task !== undefined)
          stdout.write(`${style.bold(`Iteration ${number} · ${task}`)}\n`);
        for (const one of foundLines(entry, line, flags.full === true, style)) stdout.write(`${one}\n`);
      }
      if (!(await untilDrained(stdout))) break;
    }
  } finally {
    await transcript.close();
  }
  return found;
}

/** One line for the entry, and if it does not show the words, the one that has them. */
function foundLines(entry: TranscriptEntry, line: string, isFull: boolean, style: Style): readonly string[] {
  const clock = entry.at === null ? null : clockTime;
  if (isFull) return entryLines(entry, { style, clock, isFull });
  const isCall = entry.kind === "tool" || entry.kind === "edit";
  if (!isCall) return entryLines({ ...entry, title: line }, { style, clock });
  const [first = ""] = entryLines(entry, { style, clock });
  const indent = " ".repeat(clock === null ? 4 : TIME_COLUMNS + 4);
  return first.includes(line) ? [first] : [first, `${indent}${line}`];
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
): Promise<RalphError> {
  const why = `what came of it: ralph why ${number}`;
  const transcript = `the transcript of iteration ${number}`;
  if (worker !== undefined) return refusal(`${transcript} lies on worker ${worker}`, why);
  const began = await beginningOf(project, number);
  const { keep_days: days } = (await readConfig(project)).logs;
  if (began !== undefined && days > 0 && Date.now() - began.at > days * DAY_MS)
    return refusal(
      `${transcript} is deleted: it was older than ${days} days`,
      `${why}; logs.keep_days says how long they are kept`,
    );
  const path = join(project.ralphDir, transcriptName(number));
  const none =
    number === 0 ? "no iteration has run yet" : `there is no transcript of iteration ${number} (${path})`;
  return refusal(none, "ralph history lists the iterations");
}

/** The bytes of the file, and those that come. */
async function printRaw(
  project: Project,
  number: number,
  file: string,
  flags: Flags,
  context: CliContext,
): Promise<void> {
  let printed = 0;
  for (;;) {
    const running = flags.follow === true && (await isRunning(project, number));
    printed = await printFrom(file, printed, context);
    if (!running) return;
    await delay(pollMs(project));
  }
}

function pollMs({ queue }: Project): number {
  return queue === null ? POLL_MS : POLL_SHARED_MS;
}

async function printFrom(file: string, start: number, { stdout }: CliContext): Promise<number> {
  const { size } = statSync(file);
  if (size > start)
    await pipeline(createReadStream(file, { start, end: size - 1, encoding: "utf8" }), stdout, {
      end: false,
    });
  return size;
}

async function isRunning(project: Project, iteration: number): Promise<boolean> {
  if (!(await isDriven(project))) return false;
  const { iterations } = await readState(project);
  return iterations.some(({ number, phase }) => number === iteration && phase.is === "running");
}
