import { until, type Running } from "../e2e/project.ts";
import { createTeam, type Machine, type Team, type TeamOptions } from "../e2e/team.ts";
import { ask } from "../support/postgres.ts";
import type { Fact } from "./crew.ts";
import { putUpSigns, type Signs } from "./signs.ts";

/** A team of which workers come and go. */
export interface Workshop extends Team {
  readonly signs: Signs;
  /** Where tasks are submitted; no worker is there. */
  readonly office: Machine;
  /** A worker on a machine of its own that has reported for work. */
  hire(name: string, ...flags: readonly string[]): Promise<Hired>;
  facts(): Promise<readonly Fact[]>;
  /** Until something is in the log. */
  fact(what: string, isIt: (fact: Fact) => boolean): Promise<Fact>;
  statuses(): Promise<Readonly<Record<string, string>>>;
  /** Tasks and parts that somebody holds. */
  held(): Promise<readonly string[]>;
}

export interface Hired extends Running {
  readonly id: string;
  readonly machine: Machine;
}

export async function openWorkshop(options: TeamOptions): Promise<Workshop> {
  const signs = putUpSigns();
  const team = await createTeam({ lease: "2s", ...options });
  const hired: Running[] = [];
  const facts = async (): Promise<readonly Fact[]> => (await team.events()) as unknown as Fact[];
  const office = team.machine("office");
  return {
    ...team,
    signs,
    office,
    async hire(name, ...flags) {
      const machine = team.machine(name, { env: signs.env });
      const running = machine.start("worker", ...flags);
      hired.push(running);
      await until(`${name} is here`, () => idIn(running) !== null);
      return { ...running, machine, id: idIn(running) ?? "" };
    },
    facts,
    async fact(what, isIt) {
      let found: Fact | undefined;
      await until(what, async () => (found = (await facts()).find(isIt)) !== undefined);
      if (found === undefined) throw new Error(`never: ${what}`);
      return found;
    },
    async statuses() {
      const { tasks } = JSON.parse((await office.ralph("status", "--json")).stdout) as Status;
      return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
    },
    async held() {
      const rows = await ask<{ name: string }>(
        team.url,
        "SELECT name FROM ralph.leases WHERE expires_at > clock_timestamp() ORDER BY name",
      );
      return rows.map(({ name }) => name);
    },
    async dispose() {
      for (const { child } of hired) child.kill("SIGKILL");
      await team.dispose();
      signs.remove();
    },
  };
}

interface Status {
  readonly tasks: readonly { readonly id: string; readonly status: string }[];
}

export function idIn(running: Running): string | null {
  return /worker (\S+) is here/.exec(running.stderr())?.[1] ?? null;
}
