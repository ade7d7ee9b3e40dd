import { paragraphsOf, placesOf, proseOf, type Place } from "./read-keywords.ts";
import type { WindowLine } from "./text-window.ts";

const CITATIONS_MAX = 200;

/** The files that the agent presents as its own work, in the order in which it names them. */
export function readCitations(lines: readonly WindowLine[]): readonly string[] {
  const found = new Set<string>(readLists(lines));
  const plain = lines.filter(({ standing }) => standing === "plain").map(({ text }) => text);
  for (const paragraph of paragraphsOf(proseOf(plain)))
    for (const path of readParagraph(paragraph)) found.add(path);
  return [...found].slice(0, CITATIONS_MAX);
}

const WRITTEN =
  "created|written|modified|updated|added|edited|changed|rewritten|refactored|generated|extended";
const VERB = new RegExp(
  `\\b(?:${WRITTEN}|wrote|rewrote|implemented|fixed|saved|touched|new file(?=:)|moved|renamed|copied|extracted)\\b`,
  "gi",
);
const PASSIVE = new RegExp(
  `\\b(?:was|were|has been|have been|is now|are now) (?:also |now |newly )?(?:${WRITTEN})\\b|\\((?:new|new file|${WRITTEN})\\)`,
  "gi",
);

function* readParagraph(paragraph: string): Iterable<string> {
  for (const place of placesOf(paragraph, VERB)) {
    if (!isByAgent(place)) continue;
    const end = place.at + place.phrase.length;
    const { paths, end: after } = readFileNames(paragraph, end);
    const isMoving = /^(?:moved|renamed|copied|extracted)$/i.test(place.phrase);
    const isSaving = /^(?:wrote|written|saved)$/i.test(place.phrase);
    // "Added tsconfig.json support" is about a kind of file.
    const isKind = KIND.test(paragraph.slice(after, after + NEAR));
    if (!isMoving) yield* paths.filter((path) => !isKind || path.includes("/"));
    if (isMoving || paths.length === 0) yield* readDestination(paragraph, end, isMoving || isSaving);
  }
  for (const { before } of placesOf(paragraph, PASSIVE)) yield* readLastFileNames(before);
}

const NEAR = 40;
const KIND = /^ (?!(?:and|as|at|by|for|from|in|into|is|now|on|so|that|to|using|via|which|with)\b)[a-z]/i;

/** "I created", "Then updated": whoever else is named before the verb did it, or nobody yet. */
function isByAgent({ before }: Place): boolean {
  const clause = before.split(/[.,;:—–()]|\b(?:and|but|then)\b/i).at(-1) ?? "";
  return OWN.test(clause) && !/\b(?:if|once|until|when|whether)\b/i.test(clause);
}

const OWN =
  /^(?:.*\b(?:I|we)(?:['’]ve| have)?|[^\p{L}]*)(?: ?(?:also|first|just|new|next|now|successfully))*[^\p{L}]*$/iu;

/** "Added the parser in src/a.ts", "Wrote the report to docs/report.md", "Renamed a.ts to b.ts". */
function readDestination(paragraph: string, from: number, isPlace: boolean): readonly string[] {
  DESTINATION.lastIndex = from;
  const [words = "", way] = DESTINATION.exec(paragraph) ?? [];
  if (words === "" || (way === "to" && !isPlace) || REFERRING.test(words)) return [];
  const at = from + words.length;
  const isClear = isPlace || paragraph[at] === "`";
  return readFileNames(paragraph, at).paths.filter((path) => isClear || path.includes("/"));
}

/** A dot inside a word ends no sentence. */
const DESTINATION = /(?: (?!in |into |to )(?:[^\s.,;:]|\.(?=\w)){1,60}){1,7} (in|into|to) /y;
const REFERRING =
  /(?<![-\w])(?:\w+ed|shown|found|seen|links?|references?|as|like|per|from|see) (?:\w+ )?\w+ $/i;

/** Lists under a line such as "Files changed:". */
function* readLists(lines: readonly WindowLine[]): Iterable<string> {
  let isOpen = false;
  for (const { text, standing } of lines.filter((one) => one.standing !== "quoted")) {
    const line = text.trim().slice(0, LINE_LENGTH_MAX);
    if (line === "" || /^(?:`{3}|~{3})/.test(line)) continue;
    const list: string | null = standing === "plain" ? readTitle(line) : null;
    const item: readonly string[] | null = isOpen && list === null ? readItem(line) : null;
    yield* item ?? readFileNames(list ?? "").paths;
    isOpen = list === "" || item !== null || (isOpen && list === null && /^\s/.test(text));
  }
}

const LINE_LENGTH_MAX = 1_000;
const SAYS_WRITTEN = new RegExp(`\\b(?:${WRITTEN}|wrote|touched|new)\\b`, "i");
const SAYS_OTHERWISE =
  /\b(?:not|no|never|without|old|deleted|removed|read|reviewed|unchanged|to|will|should|must|needed|needs?|would|could|if)\b|n['’]t\b/i;
const CHANGES = /^(?:(?:summary of )?(?:the )?changes?(?: made)?|what (?:i|was|has been) changed)$/i;
/** What is said of a file that was written, and of one that was not. */
const STATE = new RegExp(`^(?:new file|new|${WRITTEN})\\b[:\\s]*`, "i");
const GONE =
  /^(?:D\s|(?:deleted?|removed?|unchanged|read|reviewed|renamed?|moved?|not?|none|nothing|n\/a|skipped|planned|proposed|pending|to be|will|should|must|would|could|needs?)\b)/i;

/** What follows "Files changed:"; empty for a heading that opens a list, null when it is none. */
function readTitle(line: string): string | null {
  const words = line.replaceAll(/^#+\s*|\*\*|__/g, "");
  const colon = words.indexOf(":");
  if (colon < 0 && words === line) return null;
  const title = (colon < 0 ? words : words.slice(0, colon)).trim();
  const isOfFiles = /\bfiles?\b/i.test(title) && SAYS_WRITTEN.test(title) && !SAYS_OTHERWISE.test(title);
  if (title.length > 80 || !(isOfFiles || CHANGES.test(title))) return null;
  return colon < 0 ? "" : words.slice(colon + 1).trim();
}

/** Null for no item: without a bullet only a name alone, or one with a remark, is one. */
function readItem(line: string): readonly string[] | null {
  const plain = line.replace(/^(?:[-*+•–]|\d{1,3}[.)])\s*(?:\[[ xX]\]\s*)?/, "").replaceAll(/\*\*|__/g, "");
  // Without the picture before the words.
  const words = plain.replace(/^[^\p{L}\p{N}`"[(./?]+/u, "").trim();
  const item = words.replace(/^(?:[AMRC]{1,2}|\?\?)\s+/, "").replace(STATE, "");
  const { paths, end } = readFileNames(item);
  const remark = item.slice(end).replace(/^[^\p{L}]+/u, "");
  const isBare = /^\s*(?:$|[:(–—,-])/.test(item.slice(end));
  if (words.length === line.length && !(isBare && paths.length > 0)) return null;
  return GONE.test(words) || GONE.test(remark) ? [] : paths;
}

const PATH_LENGTH_MAX = 300;
const NAMES_MAX = 50;

/** The names that follow from a place on, and where they end: "the new file `a.ts` (parser), b.ts and c.ts". */
function readFileNames(text: string, from = 0) {
  const paths: string[] = [];
  let end = from;
  let at = skip(FILLER, text, from);
  while (paths.length < NAMES_MAX) {
    const nameEnd = skip(NAME, text, at);
    const path = fileNameIn(text.slice(at, nameEnd));
    if (path === null) break;
    paths.push(path);
    end = nameEnd;
    const next = skip(SEPARATOR, text, end);
    if (next === end) break;
    at = skip(FILLER, text, next);
  }
  return { paths, end };
}

/** A name may be quoted or a link; `app.py`-style is none. */
const NAME =
  /(?:`[^`]{1,300}`|"[^"]{1,300}"|\[[^\]]{1,300}\]\([^()\s]{0,300}\))(?![-‐‑]\p{L})|[^\s,;`"<>|]{1,350}(?<![.:!?*_)])/uy;
/** What may stand before a name without changing its meaning. */
const FILLER =
  /(?:[\s:*_]|->|→|(?:the|a|an|new|files?|at|both|also|these|two|three|four|following|existing|module|script|tests?|config|component)(?=[\s:]))*/iy;
const SEPARATOR = /[*_]{0,2}(?:\s?\([^()]{0,120}\))?[*_]{0,2}\s?(?:,\s?(?:and\s|&\s?)?|\band\s|&\s?|\+\s)/y;

function skip(what: RegExp, text: string, from: number): number {
  what.lastIndex = from;
  return what.test(text) ? what.lastIndex : from;
}

/** The names that end a text: "`a.ts` and `b.ts`" before "were created". */
function readLastFileNames(text: string): readonly string[] {
  const paths: string[] = [];
  for (const word of text.match(/`[^`]{1,300}`|"[^"]{1,300}"|[^\s,`"]+/g)?.toReversed() ?? []) {
    const path = fileNameIn(word);
    if (path !== null) paths.unshift(path);
    else if (word !== "and" && word !== "&") break;
  }
  return paths;
}

/** The file that a word names, without line numbers; null when it is something else, or may well be. */
function fileNameIn(word: string): string | null {
  const isBare = !/^[`"[]/.test(word);
  const inside = word.replace(/^\[(.*)\]\(.*\)$/s, "$1").replaceAll(/^[*_(`"]+|[`".,;:!?*…]+$/g, "");
  const path = inside.replace(LINE_NUMBERS, "").replace(/^\.\/+/, "");
  if (path === "" || path.length > PATH_LENGTH_MAX || NO_PATH.test(path)) return null;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (NAME_WITHOUT_EXTENSION.test(name)) return path;
  const extension = /[^.\s]\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? "";
  if (!/[a-z]/.test(extension)) return null;
  return path === name && (!EXTENSIONS.includes(` ${extension} `) || (isBare && LIBRARY.test(name)))
    ? null
    : path;
}

/** `:10`, `:10:5`, `:10-20`, `:L3`, `#L10-L20`. */
const LINE_NUMBERS = /(?::L?\d+(?:[-–:,]L?\d+)*|#L\d+(?:[-–]L?\d+)?)$/;
/** Addresses, globs, code, commands, import aliases, and what leads out of sight. */
const NO_PATH =
  /:\/\/|^(?:mailto:|www\.|@\/|~)|[*?<>|;={}"`\\\n\0]|\/\/|^[^/]* |^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app)\//i;
/** Libraries that are called like files: Leaflet.js, Node.js. */
const LIBRARY = /^(?:[A-Z]\w*|node|next|nuxt|vue|three|d3|p5)\.js$/;
const NAME_WITHOUT_EXTENSION =
  /^(?:(?:Make|Docker|Container|Gem|Rake|Proc|Jenkins|Vagrant|[Jj]ust)file|CODEOWNERS|\.(?:editorconfig|env|gitattributes|[a-z]+(?:ignore|rc)))$/;
const EXTENSIONS =
  " ts tsx mts cts js jsx mjs cjs json jsonc json5 py pyi ipynb rs go java kt kts scala groovy gradle rb erb php c h cc cpp cxx hpp hh cs fs swift m mm dart ex exs erl hs clj lua pl r jl zig nim v sol vue svelte astro html htm css scss sass less xml svg yaml yml toml ini cfg conf env properties md mdx rst adoc txt csv tsv sql graphql gql proto prisma sh bash zsh fish ps1 bat cmd dockerfile tf hcl nix lock log snap feature png jpg jpeg gif ico webp pdf wasm patch diff tmpl hbs ejs pug ";
