import type { Random } from "../../src/eval/random.ts";
import { killWorker, type Machine } from "./worker-truth.ts";
import type { WorkerWorld } from "./worker-worlds.ts";

const KINDS = ["kill", "kill", "freeze", "freeze", "cut-off", "cut-off", "database", "job", "leave"] as const;

/** Harm that comes to workers, the database and the jobs, in the first minutes; the machines know nothing of it. */
export function scheduleFaults(around: WorkerWorld): void {
  const { world, crew } = around;
  const { time, random } = world;
  crew.faultsUntil = time.now();
  for (let count = random.pick([0, 1, 2, 3, 4, 6]); count > 0; count -= 1) {
    const kind = random.pick(KINDS);
    const machine = random.pick(crew.machines);
    const at = time.now() + random.between(0, 240_000);
    const forMs = random.between(2_000, 90_000);
    crew.faultsUntil = Math.max(crew.faultsUntil, at + forMs);
    time.at(at, () => harm(around, machine, kind, forMs));
  }
}

function harm(around: WorkerWorld, machine: Machine, kind: (typeof KINDS)[number], forMs: number): void {
  const { world, crew } = around;
  const { time, random } = world;
  const until = time.now() + forMs;
  switch (kind) {
    case "kill":
      return killWorker(world, machine, { withAgents: random.chance(0.5) });
    case "freeze":
      if (random.chance(0.4)) machine.frozenUntil = until;
      else machine.freezesMs[random.pick(["git", "push", "database"] as const)] = forMs;
      return;
    case "cut-off":
      if (!random.chance(0.2)) machine.noDatabaseUntil = until;
      if (random.chance(0.5)) machine.noRemoteUntil = until;
      return;
    case "database":
      crew.databaseAwayUntil = until;
      // A server that was stopped gives everybody time to be heard again.
      if (random.chance(0.5)) crew.fleet.startedAt = until;
      return;
    case "job":
      return spoilJob(around, random);
    case "leave":
      return machine.stop.abort();
    default:
  }
}

/** A job is lost, or delivered a second time. */
function spoilJob({ crew }: WorkerWorld, random: Random): void {
  const { jobs } = crew.fleet;
  const keys = [...jobs.keys()];
  if (keys.length === 0) return;
  const key = random.pick(keys);
  const job = jobs.get(key);
  if (job === undefined || random.chance(0.5)) jobs.delete(key);
  else jobs.set(key, { ...job, isDelivered: false });
}
