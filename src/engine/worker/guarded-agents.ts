import { isHeldBy } from "../../core/loop/evolve-fleet.ts";
import { taskState } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Journal } from "../journal.ts";
import type { Agents } from "../ports.ts";
import type { Holdings } from "./holdings.ts";

/**
 * Agents that are started only for what is held. A worker may sleep between the fact that an agent starts and the start
 * itself; by then the log may say that the task is worked on elsewhere.
 */
export function guardedAgents(agents: Agents, holdings: Holdings, journal: Journal): Agents {
  return {
    run: async (request, signal) => {
      const { task } = request;
      const number = holdings.get(task)?.number ?? null;
      if (!isHeldBy(taskState(journal.state, task), number))
        throw new RalphError("lease-lost", `another worker goes on with ${task}`);
      return agents.run(request, signal);
    },
    send: (iteration, text) => agents.send(iteration, text),
    sweep: (marker) => agents.sweep(marker),
    recoverReport: (iteration, startedAt) => agents.recoverReport(iteration, startedAt),
  };
}
