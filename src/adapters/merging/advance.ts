import { RalphError } from "../../core/ralph-error.ts";
import type { Advanced, AdvanceRequest } from "../../engine/parallel-ports.ts";
import type { OpenRepository } from "../git/open-repository.ts";
import type { Repository } from "../git/find-repository.ts";
import { contains } from "../git/contains.ts";
import { createGit, gitError, type Git } from "../git/git.ts";
import { keepBackup } from "../git/keep-backup.ts";
import { resolveCommit } from "../git/read-head.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { changesBetween } from "./changes-between.ts";
import { fastForward, refusedPaths } from "./fast-forward.ts";
import { findCheckouts } from "./find-checkouts.ts";
import { findObstacles } from "./find-obstacles.ts";
import { finishMove } from "./finish-move.ts";
import { refOf } from "./find-tip.ts";

/** Moves the base where it is checked out, or its reference alone where it is not. */
export async function advance(
  checkout: OpenRepository,
  scratch: string,
  request: AdvanceRequest,
): Promise<Advanced> {
  const git = openGit(checkout, request);
  const stands = await whereItStands(git, request);
  if (stands !== "before") return stands;
  const places = await findCheckouts(git, checkout, refOf(request.base));
  const closed = places.find((place) => place.is === "closed");
  if (closed !== undefined) return { is: "waits", root: closed.root, why: closed.why, paths: [] };
  const [place, another] = places.filter((one) => one.is === "open").map(({ repository }) => repository);
  if (place === undefined) return swap(git, request);
  if (another !== undefined)
    return { is: "waits", root: another.root, why: `it is checked out in ${place.root} as well`, paths: [] };
  return moveCheckout(place, { checkout, scratch, request });
}

interface Move {
  readonly checkout: OpenRepository;
  readonly scratch: string;
  readonly request: AdvanceRequest;
}

async function moveCheckout(place: Repository, move: Move, isSecond = false): Promise<Advanced> {
  const { checkout, scratch, request } = move;
  const { base, from, to, run, iteration } = request;
  const { root } = place;
  const git = openGit(place, request);
  const changes = await changesBetween(git, from, to);
  const { paths, halfway } = await findObstacles({ root, git }, scratch, changes);
  if (paths.length > 0) {
    // The person who is asked to tidy up could not, with a dead git's lock on it.
    await removeStaleLocks(place, [refOf(base)]);
    return { is: "waits", root, why: "it has uncommitted changes", paths };
  }
  await keepBackup(git, { run, iteration, commit: from });
  const result =
    halfway.settled.length > 0
      ? await finishMove(git, { branch: base, from, to, halfway })
      : await fastForward(git, { branch: base, to, identity: await checkout.identity() });
  const stands = await whereItStands(git, request);
  if (stands !== "before") return stands;
  // Git has moved something else: somebody checked out another branch at this very moment.
  if (result.code === 0) return { is: "elsewhere", head: from };
  // It may have failed after it had written the files.
  if (!isSecond) return moveCheckout(place, move, true);
  return { is: "waits", root, why: gitError(["merge"], result).message, paths: refusedPaths(result) };
}

async function swap(git: Git, request: AdvanceRequest): Promise<Advanced> {
  const { base, from, to, run, iteration } = request;
  await keepBackup(git, { run, iteration, commit: from });
  const args = ["update-ref", "-m", "ralph: merge", refOf(base), to, from];
  const result = await git.run(args);
  const stands = await whereItStands(git, request);
  if (stands === "before") throw gitError(args, result);
  return stands;
}

async function whereItStands(git: Git, { base, from, to }: AdvanceRequest): Promise<Advanced | "before"> {
  const head = await resolveCommit(git, refOf(base));
  if (head === to) return { is: "moved" };
  const isThere = (await git.run(["cat-file", "-e", `${to}^{commit}`])).code === 0;
  if (head === null || !isThere) return { is: "elsewhere", head };
  // Somebody may have worked on top of it since.
  if (head !== from) return (await contains(git, head, to)) ? { is: "moved" } : { is: "elsewhere", head };
  if (!(await contains(git, to, from)))
    throw new RalphError("internal", `${to} does not continue ${from}: ${base} stays where it is`);
  return "before";
}

function openGit(repository: Repository, { base }: AdvanceRequest): Git {
  return createGit(repository.root, {
    unlock: () => removeStaleLocks(repository, [refOf(base)]),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
}
