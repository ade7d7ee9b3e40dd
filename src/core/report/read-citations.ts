import { isDenied, isHypothetical, lastClause } from "./denial.ts";
import { createFileList } from "./read-file-list.ts";
import { readFileNames } from "./read-file-names.ts";
import { fileNameIn } from "./file-name.ts";
import { paragraphsOf } from "./split-sentences.ts";
import type { WindowLine } from "./text-window.ts";

const CITATIONS_MAX = 200;

/** The files that the agent says it wrote, in the order in which it names them; not those it only mentions. */
export function readCitations(lines: readonly WindowLine[]): readonly string[] {
  const found = new Set<string>();
  const list = createFileList();
  for (const { text, standing } of lines)
    if (standing !== "quoted") for (const path of list.read(text, standing === "fenced")) found.add(path);
  const prose = lines.filter(({ standing }) => standing === "plain").map(({ text }) => text);
  for (const paragraph of paragraphsOf(prose)) for (const path of filesWrittenIn(paragraph)) found.add(path);
  return [...found].slice(0, CITATIONS_MAX);
}

function* filesWrittenIn(paragraph: string): Iterable<string> {
  for (const match of paragraph.matchAll(VERB)) {
    const before = paragraph.slice(Math.max(0, match.index - NEAR), match.index);
    if (isOnlyThoughtOf(before)) continue;
    const end = match.index + match[0].length;
    if (!MOVING.test(match[0])) {
      const { paths } = readFileNames(paragraph, end);
      yield* paths;
      if (paths.length > 0) continue;
    }
    yield* filesWrittenInto(paragraph, end, match[0]);
  }
  for (const match of paragraph.matchAll(PASSIVE))
    yield* filesBefore(paragraph.slice(Math.max(0, match.index - NEAR), match.index));
}

const NEAR = 400;

const PARTICIPLE =
  "created|written|modified|updated|added|edited|changed|rewritten|refactored|generated|extended";
const VERB = new RegExp(
  `\\b(?:${PARTICIPLE}|wrote|rewrote|implemented|fixed|saved|touched|new file(?=:)|moved|renamed|copied|extracted)\\b`,
  "gi",
);
/** Of these only the place where it went is written. */
const MOVING = /^(?:moved|renamed|copied|extracted)$/i;
const PASSIVE = new RegExp(
  `\\b(?:was|were|has been|have been|is now|are now) (?:also |now |newly |successfully )?(?:${PARTICIPLE})\\b|\\((?:new|new file|${PARTICIPLE})\\)`,
  "gi",
);

function isOnlyThoughtOf(before: string): boolean {
  const near = { before: before.slice(-120), after: "" };
  return (
    isDenied(near) ||
    isHypothetical(near) ||
    /\b(?:will|would|could|should|must|might|may|to be|be|being|needs?|is|are)\s*$/i.test(
      lastClause(near.before),
    )
  );
}

/** "Added the parser in src/a.ts", "Wrote the report to docs/report.md", "Renamed a.ts to b.ts". */
function filesWrittenInto(paragraph: string, from: number, verb: string): readonly string[] {
  const isToAlso = MOVING.test(verb) || /^(?:wrote|written|saved)$/i.test(verb);
  const way = isToAlso ? INTO_OR_TO : INTO;
  way.lastIndex = from;
  const match = way.exec(paragraph);
  if (match === null || REFERRING.test(match[0])) return [];
  return readFileNames(paragraph, from + match[0].length).paths;
}

/** A dot inside a word ends no sentence. */
const INTO = /(?: (?!in |into )(?:[^\s.,;:]|\.(?=\w)){1,60}){1,7} (?:in|into) /y;
const INTO_OR_TO = /(?: (?!in |into |to )[^\s,;:]{1,120}){1,7} (?:in|into|to) /y;
const REFERRING =
  /(?<![-\w])(?:described|documented|specified|defined|shown|listed|mentioned|found|used|explained|seen|required|outlined|noted|links?|references?|as|like|per|from|see|based)\b/i;

/** The names that end right here: "`a.ts` and `b.ts` were created". */
function filesBefore(before: string): readonly string[] {
  const words = before.match(/`[^`]{1,300}`|"[^"]{1,300}"|[^\s,`"]+/g) ?? [];
  const paths: string[] = [];
  for (const word of words.toReversed()) {
    const path = fileNameIn(word.replaceAll(/^[`"]|[`"]$/g, ""));
    if (path !== null) paths.unshift(path);
    else if (word !== "and" && word !== "&") break;
  }
  return paths;
}
