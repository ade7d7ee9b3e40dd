import type { Claim, Failure } from "./agent-report.ts";
import { errorSignature } from "./error-signature.ts";
import { findContradictions } from "./find-contradictions.ts";
import { readCitations } from "./read-citations.ts";
import { readKeywords } from "./read-keywords.ts";
import type { PassageReader } from "./read-passage.ts";
import { createPromiseReader, type ExpectedPromise } from "./read-promise.ts";
import { claimOfBlock, createStatusBlockReader } from "./read-status-block.ts";
import type { SignalReport, Signals, StatusBlock } from "./signals.ts";
import { createLineReader } from "./split-lines.ts";
import { createTextWindow, type WindowLine } from "./text-window.ts";

/** Reads everything an agent says in plain text, in linear time and bounded memory. */
export interface SignalReader extends PassageReader {
  report(failure: Failure | null): SignalReport;
}

/**
 * The final message of a plain text is all of it. Claims are looked for everywhere; prose (keywords,
 * contradictions, citations, the last error) only in this much at its end.
 */
const WINDOW_LENGTH = 64 * 1024;

/** `isEcho` tells which lines of prose are the prompt's and not the agent's. */
export function createSignalReader(
  expected: ExpectedPromise,
  isEcho: (line: string) => boolean = () => false,
): SignalReader {
  const promises = createPromiseReader(expected);
  const blocks = createStatusBlockReader();
  const window = createTextWindow(WINDOW_LENGTH);
  const lines = createLineReader((line, standing) => {
    promises.read(line, standing);
    blocks.read(line, standing);
    window.add(line, standing);
  });
  return {
    isIdle: () => lines.isIdle() && promises.isIdle() && blocks.isIdle(),
    readLine: (line) => lines.read(line),
    readPlain: (plain) => window.addPlain(plain),
    report(failure) {
      lines.end();
      const said = promises.said();
      const block = blocks.block();
      const bare = blocks.bareExitSignal();
      const { claim, conflicts } = combine(said.claim, block, bare);
      const own = window.lines().filter(({ text }) => !isEcho(text));
      const finalText = own.map(({ text }) => text);
      return {
        claim,
        promise: said.promise,
        promiseMatches: said.claim.is === "complete",
        finalText: finalText.join("\n").trim().toWellFormed(),
        signals: {
          ...readProse(own, claim, block, conflicts),
          isPromiseHidden: said.isHidden,
          errorSignature: errorSignature(failure, finalText),
          statusBlock: block,
          exitSignal: block?.exitSignal ?? bare,
          workType: block?.workType ?? null,
          testsStatus: block?.testsStatus ?? null,
        },
      };
    },
  };
}

interface Combined {
  readonly claim: Claim;
  readonly conflicts: readonly string[];
}

/** A promise outranks the block, and the block a bare line; who is overruled is told. */
function combine(promised: Claim, block: StatusBlock | null, bare: boolean | null): Combined {
  const blockClaim = claimOfBlock(block);
  const bareClaim: Claim = bare === true ? { is: "complete", promise: "EXIT_SIGNAL: true" } : { is: "none" };
  if (promised.is === "complete") {
    const against = opposes(blockClaim) ? [`the promise is printed, but ${inWords(block)}`] : [];
    return { claim: promised, conflicts: against };
  }
  if (promised.is !== "none") return { claim: promised, conflicts: [] };
  if (blockClaim.is === "none") return { claim: bareClaim, conflicts: [] };
  const against =
    bareClaim.is === "complete" && opposes(blockClaim)
      ? [`a line says EXIT_SIGNAL: true, but ${inWords(block)}`]
      : [];
  return { claim: blockClaim, conflicts: against };
}

function opposes(claim: Claim): boolean {
  return claim.is === "blocked" || claim.is === "unfinished";
}

function inWords(block: StatusBlock | null): string {
  const decides = block?.status === "BLOCKED" || block?.exitSignal == null;
  return `the status block says ${decides ? `STATUS: ${block?.status}` : `EXIT_SIGNAL: ${block.exitSignal}`}`;
}

type Prose = Pick<Signals, "confidence" | "isTestOnly" | "isStuck" | "contradictions" | "citations">;

function readProse(
  own: readonly WindowLine[],
  claim: Claim,
  block: StatusBlock | null,
  conflicts: readonly string[],
): Prose {
  const prose = withoutSignals(own.filter(({ standing }) => standing === "plain").map(({ text }) => text));
  const keywords = readKeywords(prose);
  const citations = readCitations(own);
  const redTests =
    claim.is === "complete" && block?.testsStatus === "FAILING"
      ? ["the status block says TESTS_STATUS: FAILING"]
      : [];
  const workType = block?.workType ?? null;
  return {
    confidence: claim.is === "none" ? keywords.confidence : 100,
    isTestOnly: workType === null ? keywords.isTestOnly && citations.length === 0 : workType === "TESTING",
    isStuck: claim.is !== "complete" && keywords.isStuck,
    contradictions: [...conflicts, ...redTests, ...findContradictions(prose)],
    citations,
  };
}

/** What stands in a promise or a field is read as such, and not as prose too; a recommendation is prose. */
function withoutSignals(lines: readonly string[]): readonly string[] {
  const kept: string[] = [];
  const lastEnd = lines.findLastIndex((line) => line.includes("</promise>"));
  let isInside = false;
  for (const [index, line] of lines.entries()) {
    if (line.trimStart().startsWith("<promise>")) isInside = index <= lastEnd;
    if (!isInside && !FIELD.test(line)) kept.push(line);
    if (line.includes("</promise>")) isInside = false;
  }
  return kept;
}

const FIELD =
  /^\s*(?:STATUS|TASKS_COMPLETED_THIS_LOOP|FILES_MODIFIED|TESTS_STATUS|WORK_TYPE|EXIT_SIGNAL)\s*:/i;
