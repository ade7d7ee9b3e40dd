import { RalphError } from "../../src/core/ralph-error.ts";
import type {
  Advanced,
  AdvanceRequest,
  FileMark,
  MergeRequest,
  Merging,
  PreparedMerge,
  RevertRequest,
} from "../../src/engine/parallel-ports.ts";
import type { DurableFacts } from "./durable-facts.ts";
import type { LaneTruth } from "./lane-truth.ts";
import { checkMove, checkPerson } from "./merge-invariants.ts";
import { mergeFiles, sameFiles, type Files, type MergedFiles, type Branches } from "./branches.ts";
import { MAIN, type World } from "./world.ts";

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
    await step();
    const answer = await work();
    underWay -= 1;
    return answer;
  };
  return {
    prepare: (request) =>
      alone(async () => {
        const prepared = prepareMerge(branches, request);
        await step();
        return prepared;
      }),
    advance: (request) => alone(() => advance(world, lanes, facts, request, step)),
    rename: async (branch, name) => {
      await step();
      const tip = branches.tip(branch);
      if (tip === null) return;
      branches.move(name, tip);
      branches.move(branch, null);
      await step();
    },
    revert: async (request) => {
      await step();
      return prepareRevert(branches, request);
    },
  };
}

function prepareMerge(branches: Branches, request: MergeRequest): PreparedMerge {
  const { mark, how } = request;
  const [from, branch] = [tipOf(branches, request.base), tipOf(branches, request.branch)];
  const [ours, theirs] = [branches.files(from), branches.files(branch)];
  const parted = branches.files(branches.mergeBase(from, branch));
  const merged = holding(mergeFiles(parted, ours, theirs), mark, ours.get(mark?.path ?? ""));
  if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
  const files = marked(merged.files, mark);
  if (sameFiles(files, ours)) return { is: "nothing", from };
  const work = how === "rebase" ? branches.add(merged.files, [from], "merge") : from;
  const parents = how === "merge" ? [from, branch] : [work];
  return { is: "ready", from, to: branches.add(files, parents, "merge") };
}

function prepareRevert(branches: Branches, request: RevertRequest): PreparedMerge {
  const { mark, base, spans } = request;
  const from = tipOf(branches, base);
  const ours = branches.files(from);
  let files = ours;
  for (const span of spans) {
    const merged = holding(
      mergeFiles(branches.files(span.to), files, branches.files(span.from)),
      mark,
      ours.get(mark?.path ?? ""),
    );
    if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
    files = merged.files;
  }
  files = marked(files, mark);
  if (sameFiles(files, ours)) return { is: "nothing", from };
  return { is: "ready", from, to: branches.add(files, [from], "merge") };
}

/** The task source is what the base has, whatever others made of it. */
function holding(
  { files, conflicts }: MergedFiles,
  mark: FileMark | null,
  held: string | undefined,
): MergedFiles {
  if (mark === null || held === undefined) return { files, conflicts };
  return {
    files: new Map([...files, [mark.path, held]]),
    conflicts: conflicts.filter((path) => path !== mark.path),
  };
}

function marked(files: Files, mark: FileMark | null): Files {
  const text = mark === null ? undefined : files.get(mark.path);
  if (mark === null || text === undefined) return files;
  return new Map([...files, [mark.path, mark.apply(Buffer.from(text)).toString()]]);
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
  branches.backups.set(`${run}/${iteration}/${branches.backups.size}`, from);
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
  if (head !== from) return { is: "elsewhere", head };
  const paths = base === MAIN ? repository.uncommitted() : [];
  if (paths.length === 0) return "before";
  return { is: "waits", root: "/home", why: "it has uncommitted changes", paths };
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
