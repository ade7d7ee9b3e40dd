import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import type { WorktreeEntry, Worktrees } from "../../engine/parallel-ports.ts";
import { addAtCommit, addOnBranch, resolveCommit } from "./add-worktree.ts";
import { clearLeftovers, commitStem } from "./clear-leftovers.ts";
import { clearTheWay } from "./clear-the-way.ts";
import { inTurn } from "../system/in-turn.ts";
import { lookInside } from "./look-inside.ts";
import { makeReady, type ReadyOptions } from "./make-ready.ts";
import { asOwn, ownPath } from "./own-work.ts";
import { forget, isHalfMade, isWhole, lockOf, type RegisteredWorktree } from "./registry.ts";
import { removeWorktree } from "./remove-worktree.ts";
import { endAbandonedSetup } from "./run-setup.ts";
import { isOfTask, openSite, worktreesAt, type Site } from "./site.ts";
import { readRecord } from "./worktree-record.ts";
import { BRANCH_FOLDER, worktreeName } from "./worktree-name.ts";

export interface WorktreesOptions extends ReadyOptions {
  /** Of the user's checkout, which may be a linked worktree itself. */
  readonly root: string;
  /** Where programs keep their state: worktrees lie below `ralph/<projectId>/` there. */
  readonly stateHome: string;
  readonly projectId: string;
  /** Branches are named alike on all machines, whether or not their disks tell upper from lower case. */
  readonly isShared?: boolean;
}

/** Linked worktrees of git. Nothing is written to the user's checkout, nor to its index or configuration. */
export function createWorktrees(options: WorktreesOptions): Worktrees {
  let opening: Promise<Site> | null = null;
  const open = (): Promise<Site> =>
    (opening ??= openSite(options.root, options.stateHome, options.projectId).then(
      (site) => (options.isShared === true ? { ...site, foldsCase: false } : site),
      (error: unknown) => {
        opening = null;
        throw error;
      },
    ));
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
    async at(commit, use, signal = NEVER) {
      const site = await open();
      const id = await resolveCommit(site, commit);
      const root = ownPath(join(site.place, commitStem(id)));
      return asOwn(root, async () => {
        const worktree = await addAtCommit(site, root, id);
        try {
          return await use(await makeReady(site, worktree, null, options, signal));
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
    const isGone = lstatSync(root, { throwIfNoEntry: false }) === undefined;
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
    return [{ ...named, root, ...(await lookInside(worktree)) }];
  } catch (error) {
    if (isWhole(worktree)) throw error;
    return []; // removed meanwhile
  }
}
