import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Proposal } from "../../core/plan-checks.ts";
import { RalphError } from "../../core/errors.ts";
import { createGit, gitError } from "../git/git.ts";
import { formatOf, isFileKind } from "./open-source.ts";
import { editKept, readKept, readProposal } from "./operators-list.ts";
import { TaskFile } from "./task-format.ts";

interface AcceptRequest {
  readonly root: string;
  readonly stateFolder: string;
  readonly proposal: Proposal;
  /** An agent is at work on the list: what counts is the copy that comes back when it is gone. */
  readonly isGuarded: boolean;
}

/** Brings what an agent did to the list into the list as it is now. False: all of it is there already. */
export async function acceptProposal(request: AcceptRequest): Promise<boolean> {
  const { root, stateFolder, proposal, isGuarded } = request;
  const { number, path, kind } = proposal;
  if (!isFileKind(kind)) throw new Error(`${kind} has no list`);
  const format = formatOf(kind);
  const place = { root, path, keepIn: stateFolder };
  const file = new TaskFile(place);
  const versions = readProposal(stateFolder, number);
  if (versions === null)
    throw new RalphError("usage", `the versions of proposal ${number} are gone`, {
      hint: `ralph tasks dismiss ${number}`,
    });
  const { before, after } = versions;
  if (after === null)
    throw new RalphError("usage", `proposal ${number} has no list in it: the agent left no file`, {
      hint: `if you want that, do it yourself; then: ralph tasks dismiss ${number}`,
    });
  const now = (isGuarded ? readKept(place) : null) ?? file.peek();
  if (now === null)
    throw new RalphError("no-tasks", `${path} does not exist`, {
      hint: "make it, or bring it back from git",
    });
  const merge = async (ours: Buffer): Promise<Merged> => {
    // What is marked by now is marked in all versions, so that the mark conflicts with nothing.
    const tasks = unlessUnusable(() => format.read(ours, path).tasks, []);
    const done = tasks.filter((task) => task.done);
    const marked = (file: Buffer): Buffer =>
      done.reduce((at, { id }) => unlessUnusable(() => format.mark(at, path, id, true), at), file);
    return mergeFiles(root, { before: marked(before), now: ours, after: marked(after) });
  };
  const merged = await merge(now);
  if (merged.conflict !== null)
    throw new RalphError(
      "usage",
      `proposal ${number} and ${path} have changed the same lines. In ${path}:\n${merged.conflict.ours}\nIn the proposal:\n${merged.conflict.theirs}`,
      { hint: `edit ${path} as you want it, then: ralph tasks dismiss ${number}` },
    );
  if (isGuarded) editKept(place, () => merged.file);
  const there = file.peek();
  if (there === null || there.equals(now)) file.edit(() => merged.file);
  else {
    const beside = await merge(there);
    if (beside.conflict === null) file.edit(() => beside.file);
  }
  return !merged.file.equals(now);
}

interface Merged {
  readonly file: Buffer;
  readonly conflict: { readonly ours: string; readonly theirs: string } | null;
}

/** Of an unusable list the lines tell. */
function unlessUnusable<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

async function mergeFiles(
  root: string,
  { before, now, after }: Readonly<Record<"before" | "now" | "after", Buffer>>,
): Promise<Merged> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-merge-"));
  try {
    const at = (name: string, bytes: Buffer): string => {
      writeFileSync(join(folder, name), bytes);
      return join(folder, name);
    };
    const files = [at("now", now), at("before", before), at("after", after)];
    const result = await createGit(root).run(["merge-file", "-p", "-q", ...files]);
    if (result.code > CONFLICTS_MAX) throw gitError(["merge-file"], result);
    const file = Buffer.from(result.stdout, "latin1");
    return { file, conflict: result.code === 0 ? null : conflictIn(file.toString("utf8")) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The exit code is the number of conflicts, as far as it goes. */
const CONFLICTS_MAX = 127;

function conflictIn(text: string): { readonly ours: string; readonly theirs: string } {
  const [, ours = "", theirs = ""] = /^<{7}[^\n]*\n([^]*?)^={7}\r?\n([^]*?)^>{7}/m.exec(text) ?? [];
  return { ours: ours.trimEnd(), theirs: theirs.trimEnd() };
}
