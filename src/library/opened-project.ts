import { openProject } from "../app/project.ts";
import { iterationsOf, statusJson, statusNow } from "../app/project-log.ts";
import { setTimeout as delay } from "node:timers/promises";
import { mustAct } from "../app/operator.ts";
import { openScreen } from "../app/screens.ts";
import type { OperatorAct } from "../core/loop/operator-act.ts";
import { historyEntry } from "../core/views/iteration-entries.ts";
import { toWire } from "../core/wire.ts";
import { namedEvent } from "./project-event.ts";
import type { EventOptions, Project, ProjectOptions } from "./project.ts";

/** A repository as one holds it in hand: what can be asked of it, and what a person may do. */
export async function openedProject(options: ProjectOptions): Promise<Project> {
  const { cwd = process.cwd(), env = process.env, dir } = options;
  const place = await openProject({ cwd, env, dir });
  const act = async (wanted: OperatorAct): Promise<void> => void (await mustAct(place, wanted));
  return {
    root: place.root,
    async status() {
      return statusJson(await statusNow(place, Date.now()));
    },
    async history({ task } = {}) {
      return (await iterationsOf(place, task)).map(historyEntry);
    },
    async *events({ after = 0, follow = true, signal }: EventOptions = {}) {
      const screen = openScreen(place, false);
      let position = after;
      try {
        for (;;) {
          if (signal?.aborted) return;
          const log = await screen.ports.log();
          const page = (await log?.read(position, { limit: PAGE })) ?? [];
          for (const event of page) {
            position = event.position;
            yield namedEvent({ ...toWire(event), type: event.type });
          }
          if (page.length === PAGE) continue;
          if (!follow) return;
          await delay(LOOK_MS, undefined, signal && { signal }).catch(() => {});
        }
      } finally {
        await screen.close();
      }
    },
    decide: (task, answer) => act({ do: "decide", task, answer }),
    unblock: (task, { reason = "", timeoutMs } = {}) => act({ do: "unblock", task, reason, timeoutMs }),
    steer: (task, text) => act({ do: "steer", task, text }),
    cancel: (task) => act({ do: "cancel", task }),
    stop: ({ now = false } = {}) => act({ do: "stop", now }),
  };
}

/** How often a follower looks for news. */
const LOOK_MS = 200;
const PAGE = 200;
