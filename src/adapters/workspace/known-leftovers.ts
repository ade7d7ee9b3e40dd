import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { GateLeftover } from "../../core/report/evidence.ts";
import type { TaskId } from "../../core/plan/task.ts";

/** Paths and what they looked like. */
export type Looks = ReadonlyMap<string, string>;

/**
 * Remembers what was uncommitted when an iteration was over: a file that nobody may commit counts as a change
 * once, not again in every later iteration and task. Lost with the process: it then counts once more.
 */
export interface KnownLeftovers {
  before(iteration: number, task: TaskId): { readonly iteration: Looks; readonly task: Looks };
  remember(iteration: number, looks: Looks): void;
  /** Of what is uncommitted now, what was not after the last iteration came from the gates. */
  newSince(looks: Looks): readonly GateLeftover[];
}

export function createKnownLeftovers(): KnownLeftovers {
  const nothing: Looks = new Map();
  const whenTaskBegan = new Map<TaskId, Looks>();
  let earlier = nothing;
  let last: { iteration: number; looks: Looks } | null = null;
  return {
    before(iteration, task) {
      // Looking twice at the same iteration must give the same answer.
      if (last !== null && last.iteration < iteration) earlier = last.looks;
      if (!whenTaskBegan.has(task)) whenTaskBegan.set(task, earlier);
      return { iteration: earlier, task: whenTaskBegan.get(task) ?? nothing };
    },
    remember(iteration, looks) {
      last = { iteration, looks };
    },
    newSince(looks) {
      if (last === null) return [];
      const { iteration, looks: agents } = last;
      // A file that the agent left and a gate went over is still the agent's.
      last = { iteration, looks: new Map([...looks].filter(([path]) => agents.has(path))) };
      return Array.from(looks, ([path, look]) => ({ path, look })).filter(({ path }) => !agents.has(path));
    },
  };
}

const PATHS_REMEMBERED = 10_000;

export function looksOf(root: string, paths: readonly string[]): Looks {
  return new Map(paths.slice(0, PATHS_REMEMBERED).map((path) => [path, lookOf(join(root, path))]));
}

/** Whether a gate left it, and nobody has touched it since. */
export function isGateLeftover(root: string, left: readonly GateLeftover[]): (path: string) => boolean {
  const looks = new Map(left.map(({ path, look }) => [path, look]));
  return (path) => looks.has(path) && looks.get(path) === lookOf(join(root, path));
}

function lookOf(path: string): string {
  try {
    const { mtimeNs, size, mode, ino } = lstatSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${mode} ${ino}`;
  } catch {
    return "gone";
  }
}
