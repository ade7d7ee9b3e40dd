import { evolveAll } from "../../src/core/loop/evolve.ts";
import type { State } from "../../src/core/state.ts";
import type { ParallelWork } from "../../src/engine/parallel-ports.ts";
import type { Ports } from "../../src/engine/ports.ts";
import { CHECKLIST, withMark } from "./checklist-text.ts";
import { branchOf } from "./lane-truth.ts";
import { forwarding, onAppend } from "./mutant-log.ts";
import type { Mutant } from "./simulate.ts";
import { moveBranch } from "./simulated-merging.ts";
import { MAIN } from "./world.ts";

/** Bugs planted where tasks are worked on side by side. */
export const LANE_MUTANTS: readonly Mutant[] = (
  [
    {
      name: "the base is moved wherever it stands by now",
      from: 4,
      ports: (ports, world) =>
        withMerging(ports, (merging) => ({
          advance: async (request) => {
            const advanced = await merging.advance(request);
            if (advanced.is !== "elsewhere") return advanced;
            moveBranch(world, request.base, request.to);
            return { is: "moved" };
          },
        })),
    },
    {
      name: "the base is moved over what a person has not committed",
      ports: (ports, world) =>
        withMerging(ports, (merging) => ({
          advance: (request) => {
            for (const name of world.repository.uncommitted()) world.repository.restore(name);
            return merging.advance(request);
          },
        })),
    },
    {
      name: "the merged result is not tried out",
      ports: (ports) => ({
        ...ports,
        gates: {
          check: async (gates, marker, signal, root) => {
            const results = await ports.gates.check(gates, marker, signal, root);
            return root?.includes("@") ? results.map((gate) => ({ ...gate, status: "passed" })) : results;
          },
        },
      }),
    },
    {
      name: "the mark is forgotten in the merged commit",
      ports: (ports) =>
        withMerging(ports, (merging) => ({
          prepare: (request) => merging.prepare({ ...request, mark: null }),
        })),
    },
    {
      name: "the branch's own marks come to the base",
      characters: ["ticks-box", "commits-itself"],
      ports: (ports, world) =>
        withMerging(ports, (merging) => ({
          prepare: (request) => {
            const own = world.lanes?.worktrees.get(request.task)?.files.get(request.mark?.path ?? "");
            const apply = (file: Buffer): Buffer =>
              request.mark?.apply(own === undefined ? file : Buffer.from(own)) ?? file;
            return merging.prepare({ ...request, mark: request.mark && { ...request.mark, apply } });
          },
        })),
    },
    {
      name: "a worktree is removed before its merge",
      ports: (ports) =>
        onAppend(ports, async (events) => {
          for (const event of events)
            if (event.type === "merge.prepared") await ports.parallel?.worktrees.remove(event.task);
          return events;
        }),
    },
    {
      name: "a worktree goes with what nobody has committed",
      characters: ["leaves-secret", "ticks-box"],
      ports: (ports) =>
        withWorktrees(ports, (worktrees) => ({ remove: (task) => worktrees.remove(task, { force: true }) })),
    },
    {
      name: "a worktree is made anew when its task goes on",
      ports: (ports, world) =>
        withWorktrees(ports, (worktrees) => ({
          open: (task, base, signal) => {
            world.lanes?.worktrees.delete(task);
            world.branches.move(branchOf(task), null);
            return worktrees.open(task, base, signal);
          },
        })),
    },
    {
      name: "the branch of a merged task is deleted",
      ports: (ports, world) =>
        withMerging(ports, () => ({ rename: async (branch) => world.branches.move(branch, null) })),
    },
    {
      name: "one lane too many",
      settings: (settings) => ({ ...settings, lanes: settings.lanes + 1 }),
    },
    {
      name: "a prepared merge is forgotten with the process",
      characters: ["honest"],
      ports: (ports) => withReplay(ports, withoutPrepared),
    },
    {
      name: "a conflict is resolved by taking the branch's side",
      ports: (ports, world) =>
        withMerging(ports, (merging) => ({
          prepare: async (request) => {
            const prepared = await merging.prepare(request);
            if (prepared.is !== "conflict") return prepared;
            const { from } = prepared;
            const { branches } = world;
            const [ours, theirs] = [branches.files(from), branches.files(request.commit)];
            const plan = withMark(ours.get(CHECKLIST) ?? "", request.task, true);
            const files = new Map([...ours, ...theirs, [CHECKLIST, plan]]);
            return { is: "ready", from, to: branches.add(files, [from], "merge") };
          },
        })),
    },
    {
      name: "checkouts of merged commits are left behind",
      characters: ["honest"],
      ports: (ports) => withWorktrees(ports, () => ({ clearLeftovers: () => Promise.resolve() })),
    },
    {
      name: "every gate looks at the user's checkout",
      ports: (ports) => ({
        ...ports,
        gates: { check: (gates, marker, signal) => ports.gates.check(gates, marker, signal) },
      }),
    },
    {
      name: "gates of several lanes carry one marker",
      ports: (ports) => ({
        ...ports,
        gates: { check: (gates, _marker, signal, root) => ports.gates.check(gates, "gates", signal, root) },
      }),
    },
    {
      name: "what failed to merge is not told",
      ports: (ports) =>
        onAppend(ports, (events) =>
          events.map((event) =>
            event.type === "merge.failed" ? { ...event, conflicts: [], gates: [] } : event,
          ),
        ),
    },
    {
      name: "accepted work that waits is taken for merged",
      ports: (ports, world) =>
        onAppend(ports, (events) =>
          events.map((event) => {
            if (event.type !== "merge.held") return event;
            const { why: _why, ...about } = event;
            const head = world.branches.tip(MAIN) ?? "";
            return { ...about, type: "task.merged" as const, from: head, to: head };
          }),
        ),
    },
  ] satisfies Mutant[]
).map((mutant) => ({ ...mutant, lanes: true }));

function withBeside(ports: Ports, change: (parallel: ParallelWork) => Partial<ParallelWork>): Ports {
  const { parallel } = ports;
  return parallel === null ? ports : { ...ports, parallel: { ...parallel, ...change(parallel) } };
}

function withMerging(
  ports: Ports,
  change: (merging: ParallelWork["merging"]) => Partial<ParallelWork["merging"]>,
): Ports {
  return withBeside(ports, ({ merging }) => ({ merging: { ...merging, ...change(merging) } }));
}

function withWorktrees(
  ports: Ports,
  change: (worktrees: ParallelWork["worktrees"]) => Partial<ParallelWork["worktrees"]>,
): Ports {
  return withBeside(ports, ({ worktrees }) => ({ worktrees: { ...worktrees, ...change(worktrees) } }));
}

/** Changes what a process makes of the log when it begins. */
function withReplay(ports: Ports, change: (state: State) => State): Ports {
  const loadSnapshot = async (): Promise<State> => change(evolveAll(await ports.log.read(0)));
  return { ...ports, log: forwarding(ports.log, { loadSnapshot }) };
}

function withoutPrepared(state: State): State {
  const tasks = Object.entries(state.tasks).map(([id, task]) =>
    task.merge?.is === "prepared" ? [id, { ...task, merge: null }] : [id, task],
  );
  return { ...state, tasks: Object.fromEntries(tasks) };
}
