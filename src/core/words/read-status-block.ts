import type { Claim, StatusBlock } from "../streams/agent-report.ts";
import type { Standing } from "./split-lines.ts";

/** Lines that begin otherwise say nothing here, unless a block is open. */
const BEGINNING = /^\s*(?:---|EXIT_SIGNAL)/i;
export const BLOCK_START = /^-{3,}\s*RALPH_STATUS\s*-{3,}$/i;
export const BLOCK_END = /^-{3,}\s*END_RALPH_STATUS\s*-{3,}$/i;
const EXIT_SIGNAL = /^EXIT_SIGNAL\s*:\s*(true|false)$/i;
const BLOCK_LENGTH_MAX = 16 * 1024;

/** Finds the last complete status block, and `EXIT_SIGNAL` lines that stand alone. */
export function createStatusBlockReader() {
  let last: StatusBlock | null = null;
  let bare: boolean | null = null;
  let open: { readonly lines: string[]; readonly standing: Standing; length: number } | null = null;

  return {
    read(line: string, standing: Standing): void {
      if (standing === "quoted" || (open === null && !BEGINNING.test(line))) return;
      const words = line.trim();
      // A fence that begins or ends inside a block tears it apart.
      if (open !== null && open.standing !== standing) open = null;
      if (BLOCK_START.test(words)) open = { lines: [], standing, length: 0 };
      else if (open === null) bare = (standing === "plain" ? exitSignalIn(words) : null) ?? bare;
      else if (BLOCK_END.test(words)) {
        last = readBlock(open.lines) ?? last;
        open = null;
      } else {
        open.lines.push(words);
        open.length += words.length + 1;
        if (open.length > BLOCK_LENGTH_MAX) open = null;
      }
    },
    isIdle: () => open === null,
    block: () => last,
    /** The last `EXIT_SIGNAL` line outside of any block. */
    bareExitSignal: () => bare,
  };
}

/** What a block says of the work: a blocker first, then the exit signal, then the status. */
export function claimOfBlock(block: StatusBlock | null): Claim {
  if (block === null) return { is: "none" };
  const { status, exitSignal, recommendation } = block;
  if (status === "BLOCKED") return { is: "blocked", reason: recommendation ?? "no reason given" };
  if (exitSignal === true) return { is: "complete", promise: "EXIT_SIGNAL: true" };
  if (exitSignal === false) return { is: "unfinished" };
  if (status === "COMPLETE") return { is: "complete", promise: "STATUS: COMPLETE" };
  return status === "IN_PROGRESS" ? { is: "unfinished" } : { is: "none" };
}

const FIELDS = [
  "STATUS",
  "TASKS_COMPLETED_THIS_LOOP",
  "FILES_MODIFIED",
  "TESTS_STATUS",
  "WORK_TYPE",
  "EXIT_SIGNAL",
  "RECOMMENDATION",
] as const;
type Field = (typeof FIELDS)[number];

const VALUE_LENGTH_MAX = 2_000;
const UNKNOWN_MAX = 20;
const UNKNOWN_LENGTH_MAX = 200;

/** Null when it is the empty form of the prompt, not an answer. */
function readBlock(lines: readonly string[]): StatusBlock | null {
  const values = new Map<Field, string>();
  const unknown: string[] = [];
  let previous: Field | null = null;
  for (const line of lines) {
    const [, before = "", value = ""] = /^([^:]*):(.*)$/s.exec(line) ?? [];
    const name = before.trim().toUpperCase();
    const field: Field | undefined = FIELDS.find((known) => known === name);
    if (field !== undefined) values.set((previous = field), value.trim().slice(0, VALUE_LENGTH_MAX));
    else if (previous === "RECOMMENDATION" && !FIELD_NAME.test(name) && line !== "") {
      const longer = `${values.get(previous)} ${line}`.trim();
      values.set(previous, longer.slice(0, VALUE_LENGTH_MAX));
    } else if (line !== "") unknown.push(line);
  }
  if ([...values].some(([field, value]) => isPlaceholder(field, value))) return null;
  return toBlock(values, unknown);
}

/** A single word; several are prose with a colon in it. */
const FIELD_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

function isPlaceholder(field: Field, value: string): boolean {
  return /^<[^<>]*>$/.test(value) || (field !== "RECOMMENDATION" && value.includes("|"));
}

function toBlock(values: ReadonlyMap<Field, string>, unknown: readonly string[]): StatusBlock {
  const odd: string[] = [...unknown];
  const read = <Value>(field: Field, meaning: (value: string) => Value | null): Value | null => {
    const value = values.get(field) ?? "";
    const meant = value === "" ? null : meaning(value);
    if (value !== "" && meant === null) odd.push(`${field}: ${value}`);
    return meant;
  };
  const block = {
    status: read("STATUS", oneOf(["COMPLETE", "IN_PROGRESS", "BLOCKED"])),
    tasksCompleted: read("TASKS_COMPLETED_THIS_LOOP", wholeNumber),
    filesModified: read("FILES_MODIFIED", wholeNumber),
    testsStatus: read("TESTS_STATUS", oneOf(["PASSING", "FAILING", "NOT_RUN"])),
    workType: read("WORK_TYPE", oneOf(["IMPLEMENTATION", "TESTING", "DOCUMENTATION", "REFACTORING"])),
    exitSignal: read("EXIT_SIGNAL", (value) => exitSignalIn(`EXIT_SIGNAL: ${undecorated(value)}`)),
    recommendation: read("RECOMMENDATION", (value) => value),
  };
  return {
    ...block,
    unknownFields: odd.slice(0, UNKNOWN_MAX).map((line) => line.slice(0, UNKNOWN_LENGTH_MAX)),
    missingFields: FIELDS.filter((field) => (values.get(field) ?? "") === ""),
  };
}

function oneOf<const Value extends string>(known: readonly Value[]): (value: string) => Value | null {
  return (value) => {
    const word = undecorated(value)
      .toUpperCase()
      .replaceAll(/[\s-]+/g, "_");
    return known.find((candidate) => candidate === word) ?? null;
  };
}

function wholeNumber(value: string): number | null {
  return /^\d{1,9}$/.test(value) ? Number(value) : null;
}

function exitSignalIn(words: string): boolean | null {
  const value = EXIT_SIGNAL.exec(words)?.[1]?.toLowerCase();
  return value === undefined ? null : value === "true";
}

/** Agents like to set values in bold or as code. */
function undecorated(value: string): string {
  return value.replaceAll(/[*`"']/g, "").trim();
}
