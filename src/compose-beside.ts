import { homedir } from "node:os";
import { join } from "node:path";
import { createMerging } from "./adapters/merging/git-merging.ts";
import { createPullRequests } from "./adapters/pull-requests/gh-pull-requests.ts";
import { projectId } from "./adapters/store/project-id.ts";
import { inTurn } from "./adapters/system/in-turn.ts";
import { outsidePath } from "./adapters/system/safe-path.ts";
import { createGitWorkspace, type GitWorkspace } from "./adapters/workspace/git-workspace.ts";
import { diffText } from "./adapters/workspace/read-diff.ts";
import { textOf } from "./adapters/git/git.ts";
import { stripEscapes } from "./core/report/strip-escapes.ts";
import { checkoutKey, createOwnCheckout } from "./adapters/workspace/own-checkout.ts";
import { createWorktrees } from "./adapters/worktrees/git-worktrees.ts";
import type { Beside, Merging, Worktrees } from "./engine/parallel-ports.ts";

/** What worktrees are made from. */
export interface BesideParts {
  readonly project: { readonly root: string; readonly ralphDir: string; readonly stateFolder: string };
  readonly setup: string;
  readonly include: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where ralph itself is installed: its programs are not the project's. */
  readonly ownRoot: string;
  readonly redact: (text: string) => string;
  /** Others work on the same tasks elsewhere. */
  readonly isShared?: boolean;
}

export function besideOf(parts: BesideParts, workspaceAt: (root: string) => GitWorkspace): Beside {
  const { root } = parts.project;
  const merging = knownMerging(parts.project);
  return {
    worktrees: worktreesOf(parts),
    merging: {
      ...merging,
      advance: (request) => inTurn(checkoutKey(root), () => merging.advance(request)),
      set: (move) => inTurn(checkoutKey(root), () => merging.set(move)),
    },
    checkout: createOwnCheckout(parts.project),
    pullRequests: createPullRequests({ root, env: withoutOwn(parts) }),
    workspaceAt,
  };
}

/** The difference, for a terminal: nothing in the files can steer it. */
export async function shownDiff(
  root: string,
  range: { readonly from: string | null; readonly to: string | null },
): Promise<string> {
  return stripEscapes(textOf(await diffText(root, range)));
}

/** Those that are there, for commands that make none. */
export function knownWorktrees(project: BesideParts["project"], env: NodeJS.ProcessEnv): Worktrees {
  return worktreesOf({ project, env, setup: "", include: [], ownRoot: "", redact: (text) => text });
}

export function knownMerging({ root, stateFolder }: BesideParts["project"]): Merging {
  return createMerging({ root, scratch: join(stateFolder, "scratch") });
}

function worktreesOf({ project, setup, include, redact, ownRoot, ...parts }: BesideParts): Worktrees {
  const { isShared = false } = parts;
  const { root, stateFolder } = project;
  const env = withoutOwn({ env: parts.env, ownRoot });
  return createWorktrees({
    root,
    stateHome: stateHomeOf(env),
    projectId: projectId(stateFolder),
    setup,
    include,
    env,
    redact,
    isShared,
  });
}

/** Where programs keep their state. */
export function stateHomeOf(env: NodeJS.ProcessEnv): string {
  return env["XDG_STATE_HOME"] || join(env["HOME"] ?? homedir(), ".local", "state");
}

/** The environment as the user's own programs see it. */
function withoutOwn({ env, ownRoot }: Pick<BesideParts, "env" | "ownRoot">): NodeJS.ProcessEnv {
  return { ...env, PATH: outsidePath(env["PATH"] ?? "", ownRoot) };
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
