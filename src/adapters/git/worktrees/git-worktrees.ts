import { asArgument } from "../../../core/text.ts";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import type { WorktreeEntry, Worktrees } from "../../../engine/parallel-ports.ts";
import { gitError, type GitResult, textOf } from "../git.ts";
import { resolveCommit } from "../read-head.ts";
import { asOwn, isAbandoned, ownPath, removeAbandoned, removeStaleLocks } from "../stale-locks.ts";
import { fileError, removeTree } from "../../process/atomic-file.ts";
import { entriesIn, statsAt } from "../../process/look-at.ts";
import { inTurn } from "../../process/system-clock.ts";
import { clearTheWay, endAbandonedSetup, lookInside, makeReady, type ReadyOptions } from "./make-ready.ts";
import {
  BRANCH_FOLDER,
  forget,
  gitIn,
  hasIndex,
  isHalfMade,
  isOfTask,
  isWhole,
  lockOf,
  makePlace,
  openSite,
  readRecord,
  type Site,
  type SiteOptions,
  worktreeName,
  worktreesAt,
} from "./registry.ts";
import { type RegisteredWorktree, registeredWorktrees, REMOVED } from "../find-repository.ts";

export type WorktreesOptions = ReadyOptions & SiteOptions;

/** Linked worktrees of git. Nothing is written to the user's checkout, nor to its index or configuration. */
export function createWorktrees(options: WorktreesOptions): Worktrees {
  let opening: Promise<Site> | null = null;
  const open = (): Promise<Site> =>
    (opening ??= openSite(options).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  return {
    async open(task, base, signal = NEVER) {
      const site = await open();
      const { folder, branch } = worktreeName(task, site);
      const root = join(site.place, folder);
      return inTurn(root, async () => {
        const worktree = takeUp(site, root) ?? (await addOnBranch(site, root, branch, base));
        return { ...(await makeReady(site, worktree, task, options, signal)), branch };
      });
    },
    async at(commit, use, signal = NEVER, { isSetUp } = { isSetUp: true }) {
      const site = await open();
      const id = await findCommit(site, commit);
      const root = ownPath(join(site.place, `@${id.slice(0, 12)}`));
      return asOwn(root, async () => {
        const worktree = await inTurn(site.commonDir, () => add(site, root, ["--detach", root, id]));
        try {
          const ready = isSetUp ? options : { ...options, setup: "" };
          return await use(await makeReady(site, worktree, null, ready, signal));
        } finally {
          // What stays is a leftover, and no reason to lose what came of the use.
          await removeWorktree(worktree).catch(() => undefined);
        }
      });
    },
    async list() {
      const site = await open();
      const worktrees = worktreesAt(site).filter((one) => isOfTask(one) && isWhole(one));
      const entries = await Promise.all(worktrees.map(entryOf));
      return entries.flat().toSorted((a, b) => (a.root < b.root ? -1 : 1));
    },
    async remove(task, { force = false } = {}) {
      const site = await open();
      const root = join(site.place, worktreeName(task, site).folder);
      return inTurn(root, () => removeIfClean(site, root, force));
    },
    async isGone(task) {
      const site = await open();
      const root = join(site.place, worktreeName(task, site).folder);
      return !worktreesAt(site).some((one) => one.root === root && isWhole(one));
    },
    async clearLeftovers() {
      await clearLeftovers(await open());
    },
  };
}

const NEVER = new AbortController().signal;

/** The worktree that is there, as it was left; otherwise its place is made free, and nothing is lost by it. */
function takeUp(site: Site, root: string): RegisteredWorktree | null {
  const registered = worktreesAt(site).filter((one) => one.root === root);
  const whole = registered.find((one) => isWhole(one) && !isHalfMade(one));
  if (whole !== undefined) return whole;
  clearTheWay(root);
  for (const one of registered) forget(one);
  return null;
}

async function removeIfClean(site: Site, root: string, force: boolean): Promise<boolean> {
  const registered = worktreesAt(site).filter((one) => one.root === root);
  const worktree = registered.find(isWhole);
  if (worktree === undefined) {
    const isGone = statsAt(root) === null;
    // A folder that is no worktree of ours is not ours to remove.
    if (isGone) for (const one of registered) forget(one);
    return isGone;
  }
  if (!force) {
    const isHeld = lockOf(worktree) !== null && !isHalfMade(worktree);
    if (isHeld || (await lookInside(worktree)).isDirty) return false;
  }
  await endAbandonedSetup(worktree);
  await removeWorktree(worktree);
  return true;
}

async function entryOf(worktree: RegisteredWorktree): Promise<WorktreeEntry[]> {
  const { root } = worktree;
  const folder = basename(root);
  const named = { task: readRecord(worktree)?.task ?? folder, branch: `${BRANCH_FOLDER}/${folder}` };
  try {
    const inside = await lookInside(worktree);
    if (isWhole(worktree)) return [{ ...named, root, ...inside }];
  } catch (error) {
    if (isWhole(worktree)) throw error;
  }
  return []; // removed meanwhile
}

/** On the branch, as it is; made from the base if there is none. Its files are not there yet. */
async function addOnBranch(
  site: Site,
  root: string,
  branch: string,
  base: string,
): Promise<RegisteredWorktree> {
  const ref = `refs/heads/${branch}`;
  return inTurn(site.commonDir, async () => {
    const refs = (await site.git.must(["for-each-ref", "--format=%(refname)", `refs/heads/${BRANCH_FOLDER}`]))
      .split("\n")
      .map(textOf);
    if (refs.includes(ref)) return add(site, root, [root, branch]);
    const inTheWay = refs.find(
      (other) => other === `refs/heads/${BRANCH_FOLDER}` || other.startsWith(`${ref}/`),
    );
    if (inTheWay !== undefined) throw nameTaken(inTheWay.slice("refs/heads/".length), branch);
    const commit = await findCommit(site, base);
    // Without --no-track, a base on a remote would be written to the user's configuration.
    return add(site, root, ["--no-track", "-b", branch, root, commit]);
  });
}

async function findCommit({ git }: Site, name: string): Promise<string> {
  const commit = await resolveCommit(git, name);
  if (commit !== null) return commit;
  throw new RalphError("git-failed", `"${name}" is not a commit, so no worktree can be made from it`, {
    hint: "a worktree needs at least one commit: git commit",
  });
}

const IS_ELSEWHERE = /is already (?:checked out|used by worktree) at '(.+)'/;

async function add(site: Site, root: string, args: readonly string[]): Promise<RegisteredWorktree> {
  makePlace(site.place);
  const command = ["worktree", "add", "--quiet", "--no-checkout", ...args];
  const first = await site.git.run(command);
  if (first.code !== 0) {
    if (!forgetElsewhere(site, first)) throw gitError(command, first);
    await site.git.must(command);
  }
  const added = registeredWorktrees(site.commonDir).find((one) => one.root === root);
  if (added !== undefined) return added;
  throw new RalphError("git-failed", `git made a worktree in ${root}, and does not know it`);
}

/** A branch stays checked out in a worktree whose folder was deleted; that is forgotten. Any other is refused. */
function forgetElsewhere({ commonDir }: Site, { stderr }: GitResult): boolean {
  const elsewhere = IS_ELSEWHERE.exec(stderr)?.[1];
  if (elsewhere === undefined) return false;
  const gone = registeredWorktrees(commonDir).filter(
    (one) => one.root === elsewhere && !existsSync(one.root) && lockOf(one) === null,
  );
  for (const one of gone) forget(one);
  if (gone.length > 0) return true;
  const branch = /'([^']+)' is already/.exec(stderr)?.[1] ?? "of the task";
  throw new RalphError("not-writable", `the branch ${branch} is checked out in ${elsewhere}`, {
    hint: `check out another branch there, for instance: git -C ${asArgument(elsewhere)} switch --detach`,
  });
}

function nameTaken(inTheWay: string, branch: string): RalphError {
  return new RalphError("not-writable", `the branch ${inTheWay} is in the way of the branch ${branch}`, {
    hint: `git cannot have both; rename it: git branch -m ${asArgument(inTheWay)} another-name`,
  });
}

/** What processes that are dead by now left: checkouts of a commit, folders that they were removing, set-ups, locks, half of a file. */
async function clearLeftovers(site: Site): Promise<void> {
  // Later a git of some lane is always alive, and whose a lock is cannot be told.
  await removeStaleLocks(site, lockedRefs(site.commonDir));
  for (const { name } of entriesIn(join(site.commonDir, "worktrees")))
    if (name.endsWith(REMOVED)) forget({ gitDir: join(site.commonDir, "worktrees", name) });
  for (const worktree of worktreesAt(site)) {
    await endAbandonedSetup(worktree);
    if (isLeftover(worktree.root)) await removeWorktree(worktree);
    else if (statsAt(worktree.root) === null) forget(worktree);
    else if (hasIndex(worktree)) await removeAbandoned(gitIn(worktree), worktree.root);
  }
  for (const { name } of entriesIn(site.place)) {
    const folder = join(site.place, name);
    if (isLeftover(folder)) await removeTree(folder);
  }
}

function lockedRefs(commonDir: string): readonly string[] {
  const names = readdirSync(join(commonDir, "refs"), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".lock"))
    .map((name) => join("refs", name.slice(0, -".lock".length)));
}

function isLeftover(path: string): boolean {
  const pid = /^@[0-9a-f]{12}-(\d+)-\d+$|~removed-(\d+)-\d+$/.exec(basename(path));
  return pid !== null && isAbandoned(path, Number(pid[1] ?? pid[2]));
}

/** Removes it with all that is in it. Renamed first, so that a kill leaves no half of a worktree. */
async function removeWorktree(worktree: RegisteredWorktree): Promise<void> {
  const grave = ownPath(`${worktree.root}~removed`);
  await asOwn(grave, async () => {
    const isThere = statsAt(worktree.root) !== null;
    try {
      if (isThere) renameSync(worktree.root, grave);
    } catch (error) {
      throw fileError(error, worktree.root);
    }
    forget(worktree);
    if (isThere) await removeTree(grave);
  });
}
