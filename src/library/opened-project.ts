import { setTimeout as delay } from "node:timers/promises";
import { iterationsOf, refreshStatus, statusJson, statusNow, withLog } from "../cli/project-state.ts";
import { requirePerson } from "../cli/require-person.ts";
import { isDriven, openProject, type Project as Place } from "../compose.ts";
import { openScreen } from "../compose-screens.ts";
import type { OperatorAct } from "../core/operator/operator-act.ts";
import { historyEntry } from "../core/projections/history.ts";
import { RalphError } from "../core/ralph-error.ts";
import { toWire } from "../core/wire.ts";
import { actAsOperator } from "../engine/operator.ts";
import { namedEvent, type ProjectEvent } from "./project-event.ts";
import type { EventOptions, Project, ProjectOptions } from "./project.ts";

/** A repository as one holds it in hand: what can be asked of it, and what a person may do. */
export async function openedProject(options: ProjectOptions): Promise<Project> {
  const { cwd = process.cwd(), env = process.env, dir } = options;
  const place = await openProject({ cwd, env, dir });
  const act = (wanted: OperatorAct, inWords: string): Promise<void> => actIn(place, env, wanted, inWords);
  return {
    root: place.root,
    async status() {
      return statusJson(await statusNow(place, Date.now()));
    },
    async history({ task } = {}) {
      return (await iterationsOf(place, task)).map(historyEntry);
    },
    events: (wanted = {}) => eventsOf(place, env, wanted),
    decide: (task, answer) => act({ do: "decide", task, answer }, "answer questions"),
    unblock: (task, { reason = "", timeoutMs = null } = {}) =>
      act({ do: "unblock", task, reason, timeoutMs }, "unblock tasks"),
    steer: (task, text) => act({ do: "steer", task, text }, "send messages"),
    cancel: (task) => act({ do: "cancel", task }, "cancel tasks"),
    stop: ({ now = false } = {}) => act({ do: "stop", now }, "stop the run"),
  };
}

async function actIn(place: Place, env: NodeJS.ProcessEnv, act: OperatorAct, inWords: string): Promise<void> {
  requirePerson(place, env, inWords);
  const driven = await isDriven(place);
  const acted = await withLog(
    place,
    (log) => actAsOperator(log, act, driven),
    undefined,
    () => {},
  );
  if (acted.is === "refused") throw new RalphError("usage", acted.why);
  await refreshStatus(place);
}

/** How often somebody who follows looks for news. */
const LOOK_MS = 200;
const PAGE = 200;

async function* eventsOf(
  project: Place,
  env: NodeJS.ProcessEnv,
  { after = 0, follow = true, signal }: EventOptions,
): AsyncGenerator<ProjectEvent> {
  const screen = openScreen({ project, env, mayAct: false, lines: () => [] });
  const isOver = (): boolean => signal?.aborted === true;
  let position = after;
  try {
    while (!isOver()) {
      const log = await screen.ports.log();
      const page = (await log?.read(position, { limit: PAGE })) ?? [];
      for (const event of page) {
        position = event.position;
        yield namedEvent({ ...toWire(event), type: event.type });
      }
      if (page.length === PAGE) continue;
      if (!follow) return;
      await delay(LOOK_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  } finally {
    await screen.close();
  }
}
