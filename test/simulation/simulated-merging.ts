import { RalphError } from "../../src/core/errors.ts";
import type {
  Advanced,
  AdvanceRequest,
  BranchMove,
  BranchMoved,
  FileMark,
  MergeRequest,
  Merging,
  MovedBranch,
  PreparedMerge,
  PreparedRevert,
  RevertRequest,
} from "../../src/engine/parallel-ports.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { LaneTruth } from "./lane-truth.ts";
import { checkMove, checkPerson } from "./merge-invariants.ts";
import { mergeFiles, sameFiles, type Files, type MergedFiles, type Branches } from "./branches.ts";
import type { World } from "./world.ts";

/** Brings branches of the simulated repository together; it may die at every step. */
export function simulatedMerging(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  step: () => Promise<void>,
): Merging {
  const { branches } = world;
  let underWay = 0;
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (++underWay > 1) world.violate("two merges were under way at once");
    try {
      await step();
      return await work();
    } finally {
      underWay -= 1;
    }
  };
  return {
    prepare: (request) =>
      alone(async () => {
        const prepared = prepareMerge(branches, request);
        await step();
        return prepared;
      }),
    whatMoved: async (branch, commit) => {
      await step();
      return whatMoved(branches, branch, commit);
    },
    advance: (request) => alone(() => advance(world, lanes, facts, request, step)),
    rename: async (branch, name) => {
      await step();
      const tip = branches.tip(branch);
      if (tip === null) return;
      branches.move(name, tip);
      branches.move(branch, null);
      await step();
    },
    set: (move) => alone(() => setBranch(world, move, step)),
    has: async (commit) => {
      await step();
      return branches.has(commit);
    },
    keep: async (name, commit) => {
      await step();
      return keepOnBranch(branches, name, commit);
    },
    drop: async (branch, commit, backup) => {
      await step();
      if (backup !== undefined) branches.keep(`${backup.run}/${backup.iteration}`, commit);
      if (branches.tip(branch) === commit) branches.move(branch, null);
    },
    revert: async (request) => {
      await step();
      return prepareRevert(branches, request);
    },
  };
}

async function setBranch(world: World, move: BranchMove, step: () => Promise<void>): Promise<BranchMoved> {
  const { branches, repository } = world;
  const { branch, from, to, hold } = move;
  const tip = branches.tip(branch);
  if (tip === to) return { is: "moved", held: [] };
  if (tip !== from || to === null) return { is: "stays", why: "somebody else has moved it", paths: [] };
  const isHere = branch === repository.branch;
  const moving = new Set(repository.changedSince(to));
  const paths = isHere
    ? repository.uncommitted().filter((name) => moving.has(name) && !hold.includes(name))
    : [];
  if (paths.length > 0) return { is: "stays", why: "files there have uncommitted changes", paths };
  await step();
  const held = hold.filter((name) => branches.files(from).get(name) !== branches.files(to).get(name));
  const texts = held.map((name) => [name, repository.files.get(name)] as const);
  moveBranch(world, branch, to);
  if (isHere) for (const [name, text] of texts) repository.put(name, text);
  await step();
  return { is: "moved", held: isHere ? held.filter((name) => branches.files(to).has(name)) : [] };
}

function keepOnBranch(branches: Branches, name: string, commit: string): string {
  for (let at = 1; ; at += 1) {
    const branch = at === 1 ? name : `${name}-${at}`;
    const there = branches.tip(branch);
    if (there !== null && !branches.contains(commit, there)) continue;
    branches.move(branch, commit);
    return branch;
  }
}

export function prepareMerge(branches: Branches, request: MergeRequest): PreparedMerge {
  const { mark, how, commit: branch } = request;
  const from = tipOf(branches, request.base);
  if (!branches.has(branch)) return { is: "gone", why: `nobody has ${branch} any more` };
  const [ours, theirs] = [branches.files(from), branches.files(branch)];
  const parted = branches.files(branches.mergeBase(from, branch));
  const source = sourceOf(mark, ours, theirs);
  const merged = holding(mergeFiles(parted, ours, theirs), source);
  if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
  const files = marked(merged.files, source);
  if (sameFiles(files, ours)) return { is: "nothing", from };
  const work = how === "rebase" ? branches.add(merged.files, [from], "merge") : from;
  const parents = how === "merge" ? [from, branch] : [work];
  return { is: "ready", from, to: branches.add(files, parents, "merge") };
}

export function whatMoved(branches: Branches, branch: string, commit: string): MovedBranch | null {
  const tip = branches.tip(branch);
  if (tip === commit) return null;
  const isAhead = branches.contains(tip, commit);
  return { tip, commits: branches.besides(tip, commit), isAhead, where: branch, restore: "put it back" };
}

export function prepareRevert(branches: Branches, request: RevertRequest): PreparedRevert {
  const { mark, base, spans } = request;
  const from = tipOf(branches, base);
  const ours = branches.files(from);
  const source = sourceOf(mark, ours, ours);
  let files = ours;
  for (const span of spans) {
    const back = mergeFiles(branches.files(span.to), files, branches.files(span.from));
    const merged = holding(back, source);
    if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
    files = merged.files;
  }
  files = marked(files, source);
  if (sameFiles(files, ours)) return { is: "nothing", from };
  return { is: "ready", from, to: branches.add(files, [from], "merge") };
}

/** How the task source fares: as the base has it until it is marked, and with the mark. */
interface SourceFile {
  readonly path: string;
  readonly held: string | undefined;
  readonly marked: string;
}

/** The base's version counts; the other's only where the base has none. */
function sourceOf(mark: FileMark | null, ours: Files, theirs: Files): SourceFile | null {
  if (mark === null) return null;
  const { path } = mark;
  const held = ours.get(path);
  const text = held ?? theirs.get(path);
  return text === undefined ? null : { path, held, marked: mark.apply(Buffer.from(text)).toString() };
}

function holding({ files, conflicts }: MergedFiles, source: SourceFile | null): MergedFiles {
  if (source === null) return { files, conflicts };
  const { path, held } = source;
  const others = [...files].filter(([name]) => name !== path);
  return {
    files: new Map(held === undefined ? others : [...files, [path, held]]),
    conflicts: conflicts.filter((name) => name !== path),
  };
}

function marked(files: Files, source: SourceFile | null): Files {
  return source === null ? files : new Map([...files, [source.path, source.marked]]);
}

async function advance(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  request: AdvanceRequest,
  step: () => Promise<void>,
): Promise<Advanced> {
  const { branches } = world;
  const { base, from, to, run, iteration } = request;
  const early = whereItStands(world, request);
  if (early !== "before") return early;
  branches.keep(`${run}/${iteration}`, from);
  await step();
  const stands = whereItStands(world, request);
  if (stands !== "before") return stands;
  checkMove(world, lanes, facts, request);
  moveBranch(world, base, to);
  checkPerson(world, lanes);
  await step();
  return { is: "moved" };
}

function whereItStands(world: World, { base, from, to }: AdvanceRequest): Advanced | "before" {
  const { branches, repository } = world;
  const head = branches.tip(base);
  if (branches.contains(head, to)) return { is: "moved" };
  if (head !== from || !branches.has(to)) return { is: "elsewhere", head };
  const paths = base === repository.branch ? repository.inTheWayOf(to) : [];
  if (paths.length === 0) return "before";
  return { is: "waits", root: repository.root, why: "it has uncommitted changes", paths };
}

/** A branch with the files of whoever has it checked out. */
export function moveBranch({ branches, repository }: World, branch: string, to: string): void {
  const before = branches.files(branches.tip(branch));
  branches.move(branch, to);
  if (branch === repository.branch) repository.follow(before);
}

function tipOf(branches: Branches, branch: string): string {
  const tip = branches.tip(branch);
  if (tip === null) throw new RalphError("git-failed", `there is no branch ${branch}`);
  return tip;
}
