import { lstatSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, posix, relative, resolve } from "node:path";
import { statsAt } from "../../process/look-at.ts";
import { isOutside } from "../../process/safe-path.ts";
import { PATHS_KEPT, type ChangeSet, type Evidence, type Leftover } from "../../../core/verdict/evidence.ts";
import type { CollectRequest } from "../../../engine/ports.ts";
import type { Checkout, Owners, StatusEntry } from "./checkout.ts";
import { commitLeftovers } from "./commit-leftovers.ts";
import { isUntouched, leftoversAt, othersLeftovers, readLeftovers } from "./read-leftovers.ts";
import { realPathOf } from "../find-repository.ts";
import { emptyTree, findTracked, type Git, recordsIn, textOf } from "../git.ts";
import { clearIndexFlags, forgetFileTimes, type IndexFlags, takeUndone } from "../steering.ts";
import { type KeptFiles, putBackProtected } from "./put-back.ts";
import { changedBeyondSpace, changedInTree } from "./read-diff.ts";
import { readHead } from "../read-head.ts";
import { readSetBacks } from "./read-set-backs.ts";
import { returnToBranch } from "./return-to-branch.ts";
import { isTestCode } from "../../../core/verdict/check-file-kinds.ts";

/** What was there before the agent; null where this process did not see the iteration begin. */
export interface Before {
  kept: KeptFiles | null;
  flags: IndexFlags | null;
}

/** What an iteration has changed, whatever the agent says of it. Safe to repeat after a crash at any point. */
export async function collectEvidence(
  checkout: Checkout,
  request: CollectRequest,
  { whose, isGates }: Owners,
  { kept, flags }: Before,
): Promise<Evidence> {
  const refusals: string[] = [];
  const hidden = [...takeUndone(checkout), ...(flags === null ? [] : await clearIndexFlags(checkout, flags))];
  const isForgotten =
    (request.isClaimed || hidden.length > 0) && (await forgetFileTimes(checkout, request.since));
  // A walk that began before has not seen what was hidden.
  if (hidden.length > 0 || isForgotten) checkout.walk.begin();
  const onRefusal = (words: string): void => void refusals.push(words);
  const strayedTo = await returnToBranch(checkout, request, whose);
  const { putBack, left: found } = await putBackProtected(checkout, request, { whose, kept, onRefusal });
  const mayCommit = request.commit === "ralph";
  const { isCommitted, refused } = mayCommit
    ? await commitLeftovers(checkout, found, request, onRefusal)
    : { isCommitted: false, refused: [] };
  // Hooks may have changed anything.
  const now = isCommitted && request.hooks ? await readLeftovers(checkout, whose) : found;
  const left = isCommitted ? { ...now, take: refused } : now;
  const uncommitted = othersLeftovers(left).filter(({ path }) => whose(path) === "agent");
  const dirtyOurs = new Set(left.ours.map(({ path }) => path));
  const isAgents = (path: string): boolean => whose(path) === "agent" && !dirtyOurs.has(path);
  const { head } = await readHead(checkout, checkout.git);
  const changes = await changesOf(checkout, request, { head, uncommitted, isAgents });
  const isEmpty = request.isClaimed && strayedTo === null && changes.inTask.length === 0;
  const elsewhere = isEmpty ? await findWorkElsewhere(checkout, request) : null;
  const dirty = [...othersLeftovers(found), ...found.ours].map(({ path }) => path);
  const touched = [...changes.inTask, ...changes.inIteration, ...dirty, ...putBack, ...request.earlier.paths];
  const [phantoms, doubts] = await Promise.all([
    // What the agent wrote elsewhere is there, and not here.
    strayedTo === null ? findPhantoms(checkout, request, { changed: touched, head, whose }) : [],
    readDoubts(checkout, request, { head, changes, isAllCommitted: uncommitted.length === 0 }),
  ]);
  return {
    headBefore: request.from.head,
    headAfter: head,
    changed: changeSetOf(changes.inIteration),
    changedSinceTaskBegan: changeSetOf(changes.inTask),
    uncommitted: leftoversAt(
      checkout.root,
      uncommitted.map((entry) => entry.path),
    ),
    leftByGates: leftoversAt(checkout.root, dirty.filter(isGates)),
    leftOut: mayCommit ? left.tooRisky.slice(0, PATHS_KEPT).map(({ path, why }) => ({ path, why })) : [],
    strayedTo,
    ...(elsewhere !== null && { elsewhere }),
    marksTakenBack: [],
    tasksRemoved: [],
    phantoms,
    putBack,
    ...doubts,
    hidden: [...hidden, ...doubts.hidden],
    blankFiles: changes.blank.slice(0, PATHS_KEPT),
    refusal: refusals.at(-1) ?? null,
  };
}

/** A branch or stash of this task's time that continues the base, for an agent that came back without its work. */
async function findWorkElsewhere({ git }: Checkout, { from, since }: CollectRequest): Promise<string | null> {
  // Beside a lane, other branches move too.
  if (from.head === null || from.branch === null) return null;
  const show = ["--sort=-committerdate", "--format=%(committerdate:unix) %(refname:short)"];
  const which = [`--contains=${from.head}`, "--no-merged=HEAD", "refs/heads", "refs/stash"];
  const { stdout } = await git.run(["for-each-ref", ...show, ...which]);
  const refs = stdout.split("\n").map((line) => line.split(" "));
  const found = refs.find(
    ([time, name = ""]) => 1_000 * (Number(time) + 1) > since && !/^(?:ralph\/|$)/.test(name),
  );
  return found?.[1] ?? null;
}

/** What makes one doubt a claim; nobody asks where there is none. */
async function readDoubts(
  checkout: Checkout,
  request: CollectRequest,
  now: { readonly head: string | null; readonly changes: Changes; readonly isAllCommitted: boolean },
): Promise<Required<Pick<Evidence, "hidden" | "suppressions" | "isWhiteSpaceOnly" | "checkFiles">>> {
  if (!request.isClaimed) return { hidden: [], suppressions: [], isWhiteSpaceOnly: false, checkFiles: [] };
  const { head, changes } = now;
  const { taskBase, earlier } = request;
  const isAllCommitted = now.isAllCommitted && earlier.paths.length === 0;
  // Where the check files were as nobody had touched them.
  const base = earlier.paths.length > 0 ? earlier.from : taskBase;
  const changed = [...changes.inTask, ...changes.blank];
  const [suppressions, beyondSpace, { setBacks, replacedTools }] = await Promise.all([
    readSuppressions(checkout, taskBase, head),
    head !== null && changes.inTask.length > 0 && isAllCommitted && head !== taskBase
      ? changedBeyondSpace(checkout.git, taskBase, head)
      : null,
    request.oldChecks === "never"
      ? { setBacks: [], replacedTools: [] }
      : readSetBacks(checkout, { ...request, base, changed }),
  ]);
  const hidden = replacedTools.map((path) => `${path} is no link of npm's any more`);
  const checkFiles = setBacks.map(({ path }) => path);
  return { hidden, suppressions, isWhiteSpaceOnly: beyondSpace?.length === 0, checkFiles };
}

interface Now {
  readonly head: string | null;
  readonly uncommitted: readonly StatusEntry[];
  readonly isAgents: (path: string) => boolean;
}

/** All paths that count, however many. */
interface Changes {
  readonly inIteration: readonly string[];
  readonly inTask: readonly string[];
  /** New files in which nothing can be seen. */
  readonly blank: readonly string[];
}

async function changesOf(checkout: Checkout, request: CollectRequest, now: Now): Promise<Changes> {
  const { root, readChanges } = checkout;
  const { from, taskBase, leftBefore, leftBeforeTask, earlier } = request;
  const { head, uncommitted } = now;
  const isSame = from.head === taskBase && leftBefore === leftBeforeTask;
  const [inIteration, sinceTask] = await Promise.all([
    changedSince(checkout, now, from.head, leftBefore),
    isSame ? null : changedSince(checkout, now, taskBase, leftBeforeTask),
  ]);
  const known = earlier.paths.length > 0 && head !== null ? await readChanges(earlier.from, head) : null;
  const standing = new Set([...(known?.keys() ?? [])].map(textOf));
  const inTask = [
    ...new Set([...(sinceTask ?? inIteration), ...earlier.paths.filter((path) => standing.has(path))]),
  ];
  // Of the task: those that git has not known at its base.
  const committed = head === null ? [] : [...(await readChanges(taskBase, head)).values()];
  const fresh = [
    ...committed.filter(({ before }) => before === null).map(({ bytes }) => textOf(bytes)),
    ...uncommitted.filter(({ is }) => is === "untracked").map(({ path }) => path),
  ];
  const blank = new Set(fresh.filter((path) => isBlank(join(root, path))));
  const isSeen = (path: string): boolean => !blank.has(path);
  return { inIteration: inIteration.filter(isSeen), inTask: inTask.filter(isSeen), blank: [...blank] };
}

/** The files that differ. Everything that is not dirty is as in `head`, so nobody has to walk the work tree for it. */
async function changedSince(
  { root, git, readChanges }: Checkout,
  { head, uncommitted, isAgents }: Now,
  base: string | null,
  left: readonly Leftover[],
): Promise<readonly string[]> {
  const isOld = isUntouched(root, left);
  const isCounted = (path: string): boolean => isAgents(path) && !isOld(path);
  const fresh = uncommitted.filter(({ path }) => !isOld(path));
  const dirty = new Set(fresh.filter(({ is }) => is !== "untracked").map(({ path }) => path));
  // Before the first commit git has nothing to compare with.
  const also = fresh
    .filter(
      ({ is, committable }) => head === null || is === "untracked" || (is === "tracked" && !committable),
    )
    .map(({ path }) => path);
  if (head === null) return [...new Set(also.filter(isCounted))];
  const [committed, inWorkTree] = await Promise.all([
    readChanges(base, head),
    dirty.size === 0 ? [] : changedInTree(git, base, head, [...dirty]),
  ]);
  const clean = [...committed.keys()].map(textOf).filter((path) => !dirty.has(path));
  return [...new Set([...also, ...clean, ...inWorkTree])].filter(isCounted).toSorted();
}

const BLANK_BYTES_MAX = 4_096;

/** Spaces, line ends, byte-order marks and characters without a width are all that is in it. */
function isBlank(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.size <= BLANK_BYTES_MAX && !VISIBLE.test(readFileSync(path, "utf8"));
  } catch {
    return false; // gone since: that is a change, or none, as git says
  }
}

const VISIBLE = /[^\s\u0085\p{Cf}\p{Zs}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]/u;

function changeSetOf(paths: readonly string[]): ChangeSet {
  return { files: paths.length, paths: paths.slice(0, PATHS_KEPT) };
}

const SHOWN_MAX = 20;
const LINE_LENGTH = 120;
/** What makes a checker look away; the language of POSIX, as git reads it. */
const SUPPRESSION = [
  "([a-z]*lint|biome|rubocop|phpcs|credo|prettier)[-: ]+(disable|ignore)",
  "@ts-(ignore|nocheck|expect-error)| as any([^a-zA-Z ]|$)",
  "(type|pyright|mypy|ruff|phpstan|psalm)[: ]+(ignore|noqa|ignore-errors|suppress)",
  "(#|//) *noqa|nosec|NOSONAR|NOLINT|nolint",
  "(pylint|shellcheck|cppcheck)[: -]+(disable|suppress)",
  "@(SuppressWarnings|Suppress|phpstan-ignore|SuppressLint)",
  "#!?\\[(allow|cfg_attr|coverage)\\(",
  "(istanbul|c8|v8|coverage)[: ]+ignore|pragma: *no *cover|## *no critic",
  "(GCC|clang) diagnostic ignored|pragma warning *\\(? *disable",
].join("|");
/** Prose that speaks of such marks uses none. */
const PROSE = /\.(?:md|mdx|rst|adoc|txt)$/i;

/** New lines, between two commits, that switch a checker off. What only moved is not new, and tests may expect errors. */
async function readSuppressions(
  { git }: Checkout,
  from: string | null,
  to: string | null,
): Promise<readonly string[]> {
  if (to === null || from === to) return [];
  const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
  const range = [from ?? emptyTree(to), to];
  const { stdout } = await git.run(["diff-tree", "-r", "-p", "-U0", ...plain, `-G${SUPPRESSION}`, ...range]);
  const isMark = new RegExp(SUPPRESSION);
  const found: { readonly path: string; readonly line: string }[] = [];
  const gone: string[] = [];
  let path = "";
  for (const line of stdout.split("\n")) {
    if (line.startsWith("+++ ")) path = textOf(line.slice("+++ b/".length));
    else if (!isMark.test(line) || PROSE.test(path) || isTestCode(path)) continue;
    else if (line.startsWith("+")) found.push({ path, line: line.slice(1).trim() });
    else if (line.startsWith("-")) gone.push(line.slice(1).trim());
  }
  const fresh = found.filter(({ line }) => {
    const at = gone.indexOf(line);
    if (at >= 0) gone.splice(at, 1);
    return at < 0;
  });
  const shown = fresh.slice(0, SHOWN_MAX);
  return shown.map((one) => `${one.path}: ${textOf(one.line).slice(0, LINE_LENGTH)}`);
}

interface NowInTask extends Pick<Owners, "whose"> {
  /** What the task's iterations changed, by any account: counted, uncommitted, put back, earlier. */
  readonly changed: Iterable<string>;
  readonly head: string | null;
}

const PHANTOMS_MAX = 50;
/** Folders that an agent may mean when it names a file in one of them. */
const FOLDERS_MAX = 200;

/**
 * Files that are cited as written and were not. When in doubt a file is real: a wrong guess makes an honest agent
 * look like a liar, a missed one only lets a lie pass that other checks will find.
 */
export async function findPhantoms(
  checkout: Checkout,
  request: Pick<CollectRequest, "cited" | "written" | "taskBase" | "ignore" | "leaveAlone">,
  { changed, head, whose }: NowInTask,
): Promise<readonly string[]> {
  const { root, git } = checkout;
  if (request.cited.length === 0) return [];
  const byTools = request.written.map((path) => pathIn(root, path));
  // The task source, and what was dirty before the run, never count: nobody can say.
  const known = new Set([...changed, ...request.ignore, ...request.leaveAlone, ...byTools].map(spelled));
  const folders = [...new Set([...changed].flatMap(parentsOf))].slice(0, FOLDERS_MAX);
  const isFolder = (path: string): boolean => statsAt(join(root, path))?.isDirectory() === true;
  const doubtful: Doubtful[] = [];
  for (const cited of request.cited) {
    const path = pathIn(root, cited);
    // A folder that changed as a whole is another repository inside this one.
    const isInside = parentsOf(path).some((folder) => findAlike(folder, known).some(isFolder));
    const isElsewhere = isOutside(root, resolve(root, path)) && statsAt(resolve(root, path)) !== null;
    if (findAlike(path, known).length > 0 || isInside || isElsewhere) continue;
    if (isOurs(checkout, path, whose)) continue;
    const place = findPlace(root, path, folders);
    if (place === null || !isFolder(place)) doubtful.push({ cited, path, place });
  }
  if (doubtful.length === 0) return [];
  const touched = await touchedPaths(git, request.taskBase, head);
  const unknown = doubtful.filter(({ path }) => findAlike(path, touched).length === 0);
  const tracked = await findTracked(
    git,
    unknown.flatMap(({ place }) => place ?? []),
  );
  // Git ignores a file that is there and neither tracked nor, as all that it does not ignore, in its status.
  const phantoms = unknown.filter(({ place }) => place === null || tracked.has(place));
  return phantoms.map(({ cited }) => cited).slice(0, PHANTOMS_MAX);
}

interface Doubtful {
  readonly cited: string;
  readonly path: string;
  /** Where it lies, relative to the root; null when it does not exist. */
  readonly place: string | null;
}

/** Relative to the root where it is inside, links to the root followed. */
function pathIn(root: string, cited: string): string {
  if (!isAbsolute(cited)) return spelled(cited);
  // The file itself may be gone, or be a link: its folder tells.
  const real = join(realPathOf(dirname(cited)), basename(cited));
  const inside = [cited, real].find((path) => !isOutside(root, path));
  return spelled(inside === undefined ? cited : relative(root, inside));
}

function isOurs({ root, ralphPrefix }: Checkout, path: string, whose: Owners["whose"]): boolean {
  if (whose(path) !== "agent") return true;
  if (ralphPrefix === null) return false;
  // As the container or a sub-folder sees it, and as those write it who work in our folder.
  return path.includes(`/${ralphPrefix}`) || existing(root, ralphPrefix + path) !== null;
}

/** Where the file lies that is meant, if it exists. */
function findPlace(root: string, path: string, folders: readonly string[]): string | null {
  const parts = path.split("/").filter((part) => part !== "");
  const places = isAbsolute(path)
    ? // `/workspace/src/a.ts` is `src/a.ts` where the container calls the root `/workspace`; a name says too little.
      parts.map((_, at) => parts.slice(at).join("/")).slice(0, -1)
    : [path, ...folders.map((folder) => `${folder}/${path}`)];
  for (const place of places) {
    const found = existing(root, place);
    if (found !== null) return found;
  }
  return null;
}

function parentsOf(path: string): readonly string[] {
  const parents: string[] = [];
  for (let at = posix.dirname(path); at !== "." && at !== "/"; at = posix.dirname(at)) parents.push(at);
  return parents;
}

/** The path as the disk spells it, or null. */
function existing(root: string, path: string): string | null {
  return [path, path.normalize("NFD")].find((one) => statsAt(join(root, one)) !== null) ?? null;
}

/** Everything that the task's commits touched, if only its white space or mode, or for a while. */
async function touchedPaths(
  git: Git,
  base: string | null,
  head: string | null,
): Promise<ReadonlySet<string>> {
  if (head === null || base === head) return new Set();
  const range = base === null ? head : `${base}..${head}`;
  // It fails when the base is gone; then everything counts as changed anyway.
  const { stdout } = await git.run(["log", "--format=", "--name-only", "--no-renames", "-z", range, "--"]);
  return new Set(recordsIn(stdout).map(textOf).map(spelled));
}

/** Those of the paths that may name the same file: one of the two ends with the other. */
function findAlike(path: string, known: ReadonlySet<string>): readonly string[] {
  if (known.has(path)) return [path];
  return [...known].filter((one) => one.endsWith(`/${path}`) || path.endsWith(`/${one}`));
}

/** One spelling for all: no `./`, no `..` inside, no slash at the end, letters composed. */
function spelled(path: string): string {
  const normal = posix.normalize(path.normalize("NFC"));
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
}
