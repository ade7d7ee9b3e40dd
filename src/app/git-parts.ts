import { homedir } from "node:os";
import { join } from "node:path";
import { textOf } from "../adapters/git/git.ts";
import { createMerging, createPullRequests } from "../adapters/git/merging/git-merging.ts";

import { createGitWorkspace, type GitWorkspace } from "../adapters/git/workspace/git-workspace.ts";
import { checkoutKey, createOwnCheckout } from "../adapters/git/workspace/own-checkout.ts";
import { diffText } from "../adapters/git/workspace/read-diff.ts";
import { createWorktrees } from "../adapters/git/worktrees/git-worktrees.ts";
import { inTurn } from "../adapters/process/system-clock.ts";
import { outsidePath } from "../adapters/process/safe-path.ts";
import { projectId } from "../adapters/store/project-id.ts";
import { stripEscapes } from "../core/words/strip-escapes.ts";
import type { ParallelWork, Merging, Worktrees } from "../engine/parallel-ports.ts";
import { OWN_ROOT, type Project } from "./project.ts";

/** How worktrees are made ready. */
export interface WorktreeParts {
  readonly setup: string;
  readonly include: readonly string[];
  readonly redact: (text: string) => string;
  /** Others work on the same tasks elsewhere. */
  readonly isShared?: boolean;
}

export function parallelWorkOf(
  project: Project,
  parts: WorktreeParts,
  workspaceAt: (root: string) => GitWorkspace,
): ParallelWork {
  const { root } = project;
  const merging = knownMerging(project);
  return {
    worktrees: worktreesOf(project, parts),
    merging: {
      ...merging,
      advance: (request) => inTurn(checkoutKey(root), () => merging.advance(request)),
      set: (move) => inTurn(checkoutKey(root), () => merging.set(move)),
    },
    checkout: createOwnCheckout(project),
    pullRequests: createPullRequests({ root, env: outsideEnv(project) }),
    workspaceAt,
  };
}

export function workspaceOf(project: Project): GitWorkspace {
  return createGitWorkspace(project);
}

/** The workspace of a worktree, or without one that of the user's checkout; each is opened once. */
export function workspacesBeside(workspace: GitWorkspace): (root: string | undefined) => GitWorkspace {
  const opened = new Map<string, GitWorkspace>();
  return (root) => {
    if (root === undefined) return workspace;
    const known =
      opened.get(root) ?? createGitWorkspace({ root, ralphDir: join(root, ".ralph"), keepsClaims: true });
    opened.set(root, known);
    return known;
  };
}

/** The difference, for a terminal: nothing in the files can steer it. */
export async function shownDiff(
  root: string,
  range: { readonly from: string | null; readonly to: string | null },
): Promise<string> {
  return stripEscapes(textOf(await diffText(root, range)));
}

/** The worktrees that exist, for commands that make none. */
export function knownWorktrees(project: Project): Worktrees {
  return worktreesOf(project, { setup: "", include: [], redact: (text) => text });
}

export function knownMerging({ root, stateFolder }: Project): Merging {
  return createMerging({ root, scratch: join(stateFolder, "scratch") });
}

function worktreesOf(project: Project, { isShared = false, ...parts }: WorktreeParts): Worktrees {
  const { root, stateFolder, env } = project;
  return createWorktrees({
    ...parts,
    isShared,
    root,
    stateHome: stateHomeOf(env),
    projectId: projectId(stateFolder),
    env: outsideEnv(project),
  });
}

/** Where programs keep their state. */
export function stateHomeOf(env: NodeJS.ProcessEnv): string {
  return env["XDG_STATE_HOME"] || join(env["HOME"] ?? homedir(), ".local", "state");
}

/** The environment as the user's own programs see it: without the programs that Ralph brings. */
function outsideEnv({ env }: Project): NodeJS.ProcessEnv {
  return { ...env, PATH: outsidePath(env["PATH"] ?? "", OWN_ROOT) };
}
