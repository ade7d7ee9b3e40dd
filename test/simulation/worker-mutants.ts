import { COORDINATOR, MERGER } from "../../src/core/loop/effects.ts";
import type { Fleet, Lease, SharedLog } from "../../src/engine/fleet-ports.ts";
import type { Ports, Workspace } from "../../src/engine/ports.ts";
import { Holdings } from "../../src/engine/worker/holdings.ts";
import { forwarding } from "./mutant-log.ts";
import { branchOf } from "./lane-truth.ts";
import type { Machine } from "./worker-truth.ts";
import type { WorkerWorld } from "./worker-worlds.ts";
import type { Character } from "./world.ts";

/** A bug planted in workers: it changes what one process of one is made of. */
export interface WorkerMutant {
  readonly name: string;
  readonly ports?: (ports: Ports, around: WorkerWorld, machine: Machine) => Ports;
  readonly fleet?: (fleet: Fleet, around: WorkerWorld, machine: Machine) => Fleet;
  readonly log?: (log: SharedLog, around: WorkerWorld, machine: Machine) => SharedLog;
  readonly holdings?: (leaseMs: number, elapsed: () => number) => Holdings;
  readonly ignoresFence?: boolean;
  readonly leavesAgents?: boolean;
  /** The agents that make it show; without them, all. */
  readonly characters?: readonly Character[];
}

export const WORKER_MUTANTS: readonly WorkerMutant[] = [
  {
    name: "the log does not look at leases",
    log: (log) =>
      forwarding(log, {
        append: (events, { leases: _leases, ...expected } = {}, following) =>
          log.append(events, expected, following),
        appendDecided: async (after, decide, calls) =>
          (await log.appendDecided?.(after, decide, calls)) ?? null,
      }),
  },
  {
    name: "the remote takes whatever comes",
    ignoresFence: true,
  },
  {
    name: "whoever is not heard goes on",
    holdings: (_leaseMs, elapsed) => new Holdings(Infinity, elapsed),
  },
  {
    name: "a task is given to several",
    fleet: (fleet, { crew }) =>
      changed(fleet, {
        take: async (count, offered) => {
          const taken = await fleet.take(count, offered);
          const others = [...crew.fleet.leases]
            .filter(([name]) => !name.startsWith("@") && !taken.some((lease) => lease.name === name))
            .map(([name, { number }]) => ({ name, number, from: null }));
          return taken.length > 0 ? taken : others.slice(0, Math.min(count, 1));
        },
      }),
  },
  {
    name: "everybody is the keeper",
    fleet: (fleet, { crew }) => played(fleet, (role) => numberOf(crew.fleet.leases, role, COORDINATOR)),
  },
  {
    name: "everybody merges",
    fleet: (fleet, { crew }) => played(fleet, (role) => numberOf(crew.fleet.leases, role, MERGER)),
  },
  {
    name: "a lease has the number of the one before it",
    fleet: (fleet, { crew }) =>
      changed(fleet, {
        take: async (count, offered) =>
          (await fleet.take(count, offered)).map((lease) => {
            const stored = crew.fleet.leases.get(lease.name);
            if (lease.number === 1 || stored === undefined) return lease;
            crew.fleet.leases.set(lease.name, { ...stored, number: lease.number - 1 });
            return { ...lease, number: lease.number - 1 };
          }),
      }),
  },
  {
    name: "nobody says that a worker vanished",
    fleet: (fleet) =>
      changed(fleet, {
        take: async (count, offered) =>
          (await fleet.take(count, offered)).map((lease) => ({ ...lease, from: null })),
      }),
  },
  {
    name: "labels are not looked at",
    fleet: (fleet, { crew }, machine) =>
      changed(fleet, {
        take: async (count, offered) => {
          const taken = await fleet.take(count, offered);
          const [any] = [...crew.fleet.jobs].filter(
            ([, { offer, isDelivered }]) =>
              !isDelivered && offer.labels.some((label) => !machine.labels.includes(label)),
          );
          if (taken.length > 0 || any === undefined) return taken;
          const [key, job] = any;
          const name = job.offer.task;
          const number = (crew.fleet.leases.get(name)?.number ?? 0) + 1;
          crew.fleet.leases.set(name, { number, worker: machine.id, expiresAt: Infinity });
          crew.fleet.jobs.delete(key);
          return [{ name, number, from: null }];
        },
      }),
  },
  {
    name: "the work of an iteration is not pushed",
    ports: (ports, { world }) => {
      const { parallel } = ports;
      const workspaceAt = (root: string): Workspace => {
        const workspace = parallel!.workspaceAt(root);
        const collect: Workspace["collect"] = async (request) => {
          const before = world.branches.tip(branchOf(request.task));
          const evidence = await workspace.collect(request);
          world.branches.move(branchOf(request.task), before);
          return evidence;
        };
        return { ...workspace, collect };
      };
      return { ...ports, parallel: parallel && { ...parallel, workspaceAt } };
    },
  },
  {
    name: "agents that were left over are not ended",
    ports: (ports) => ({ ...ports, agents: { ...ports.agents, sweep: async () => 0 } }),
    leavesAgents: true,
  },
  {
    name: "an agent that is to stop is left alone",
    ports: (ports) => ({
      ...ports,
      agents: { ...ports.agents, run: (request) => ports.agents.run(request, new AbortController().signal) },
    }),
  },
  {
    name: "each worker counts its own calls",
    log: (log) =>
      forwarding(log, {
        append: (events, { calls: _calls, ...expected } = {}, following) =>
          log.append(events, expected, following),
        appendDecided: async (after, decide, _calls, leasesFor) =>
          (await log.appendDecided?.(after, decide, undefined, leasesFor)) ?? null,
        countCalls: async () => 0,
      }),
  },
  {
    name: "what others appended meanwhile is not read",
    log: (log) =>
      forwarding(log, {
        append: (events, expected, following = () => []) =>
          log.append(events, expected, (own) => following(own, [])),
        appendDecided: async (after, decide, calls, leasesFor) =>
          (await log.appendDecided?.(after, () => decide([]), calls, leasesFor)) ?? null,
      }),
  },
];

function changed(fleet: Fleet, ways: Partial<Fleet>): Fleet {
  return {
    beat: (doing) => fleet.beat(doing),
    offer: (tasks) => fleet.offer(tasks),
    take: (count, offered) => fleet.take(count, offered),
    takeRole: (role) => fleet.takeRole(role),
    release: (lease) => fleet.release(lease),
    workers: () => fleet.workers(),
    leave: () => fleet.leave(),
    ...ways,
  };
}

function played(fleet: Fleet, numberFor: (role: string) => number | null): Fleet {
  return changed(fleet, {
    takeRole: async (role): Promise<Lease | null> => {
      const lease = await fleet.takeRole(role);
      const number = numberFor(role);
      return lease ?? (number === null ? null : { name: role, number, from: null });
    },
  });
}

function numberOf(
  leases: ReadonlyMap<string, { readonly number: number }>,
  role: string,
  meant: string,
): number | null {
  return role === meant ? (leases.get(role)?.number ?? null) : null;
}
