import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PATHS_KEPT, type ChangeSet, type Evidence, type Leftover } from "../../../core/verdict/evidence.ts";
import type { CollectRequest } from "../../../engine/ports.ts";
import type { Checkout, Owners, StatusEntry } from "./checkout.ts";
import { commitLeftovers } from "./commit-leftovers.ts";
import { findPhantoms } from "./find-phantoms.ts";
import { isUntouched, leftoversAt, othersLeftovers, readLeftovers } from "./read-leftovers.ts";
import { textOf, emptyTree } from "../git.ts";
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
  const { stdout } = await git.run([
    "for-each-ref",
    "--sort=-committerdate",
    "--format=%(committerdate:unix) %(refname:short)",
    `--contains=${from.head}`,
    "--no-merged=HEAD",
    "refs/heads",
    "refs/stash",
  ]);
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
  const inIteration = await changedSince(checkout, now, from.head, leftBefore);
  const inRow = isSame ? inIteration : await changedSince(checkout, now, taskBase, leftBeforeTask);
  const known = earlier.paths.length > 0 && head !== null ? await readChanges(earlier.from, head) : null;
  const standing = new Set([...(known?.keys() ?? [])].map(textOf));
  const inTask = [...new Set([...inRow, ...earlier.paths.filter((path) => standing.has(path))])];
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
