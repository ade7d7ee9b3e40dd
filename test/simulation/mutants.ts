import type { Event } from "../../src/core/events.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
import { NOTHING_FOUND } from "../../src/core/verdict/evidence.ts";
import type { Certificate } from "../../src/core/verdict/certificate.ts";
import type { Ports } from "../../src/engine/ports.ts";
import { forwarding, onAppend, withList } from "./mutant-log.ts";
import type { Mutant } from "./simulate.ts";
import { STORY_MUTANTS } from "./story-mutants.ts";
import { VERDICT_MUTANTS } from "./verdict-mutants.ts";

/** Bugs planted on purpose. A simulation that does not catch each of them proves nothing. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "no recovery: a dead engine's agent is left running",
    from: 6,
    ports: (ports) => ({ ...ports, agents: { ...ports.agents, sweep: () => Promise.resolve(0) } }),
  },
  {
    name: "marked before recorded",
    ports: (ports) =>
      onAppend(ports, async (events) => {
        for (const event of events) if (event.type === "task.completed") await ports.source.mark(event.task);
        return events;
      }),
  },
  {
    name: "gate ignored",
    ports: (ports) => ({
      ...ports,
      gates: {
        check: async (gates, marker, signal) =>
          (await ports.gates.check(gates, marker, signal)).map((gate) => ({
            ...gate,
            status: "passed" as const,
          })),
      },
    }),
  },
  { name: "lock ignored", ignoresLock: true },
  {
    name: "unaccepted work stays on the branch",
    settings: (settings) => ({ ...settings, git: { ...settings.git, unaccepted: "keep" } }),
  },
  {
    name: "the agent is believed to have changed something",
    ports: (ports) => ({
      ...ports,
      workspace: {
        ...ports.workspace,
        collect: async (request) => ({
          ...(await ports.workspace.collect(request)),
          changedSinceTaskBegan: { files: 1, paths: ["claimed.ts"] },
        }),
      },
    }),
  },
  {
    name: "run limit off by one",
    settings: (settings) => ({
      ...settings,
      limits: { ...settings.limits, maxIterations: settings.limits.maxIterations + 1 },
    }),
  },
  {
    name: "stuck limit off by one",
    characters: ["idle", "liar", "honest"],
    settings: (settings) => ({
      ...settings,
      limits: {
        ...settings.limits,
        maxStuck: settings.limits.maxStuck === 0 ? 0 : settings.limits.maxStuck + 1,
      },
    }),
  },
  {
    name: "calls of an hour off by one",
    settings: (settings) => ({
      ...settings,
      limits: {
        ...settings.limits,
        callsPerHour: settings.limits.callsPerHour === 0 ? 0 : settings.limits.callsPerHour + 1,
      },
    }),
  },
  {
    name: "a breaker that does not move",
    settings: (settings) => ({ ...settings, limits: { ...settings.limits, maxStuck: 0 } }),
    ports: (ports) => onAppend(ports, (events) => events.filter((event) => event.type !== "breaker.moved")),
  },
  {
    name: "feedback lost",
    ports: (ports) =>
      onAppend(ports, (events) => events.filter((event) => event.type !== "intervention.chosen")),
  },
  {
    name: "a limit taken for a passing failure",
    characters: ["limited", "honest"],
    ports: (ports) =>
      onAppend(ports, (events) =>
        events.map((event) => (event.type === "verdict.reached" ? { ...event, retryAt: null } : event)),
      ),
  },
  {
    name: "named files believed",
    characters: ["names-phantoms", "honest"],
    settings: (settings) => ({ ...settings, gates: [] }),
    ports: (ports) => ({
      ...ports,
      workspace: {
        ...ports.workspace,
        collect: async (request) => ({ ...(await ports.workspace.collect(request)), phantoms: [] }),
      },
    }),
  },
  {
    name: "a message called used that nobody heard",
    ports: (ports) => ({ ...ports, agents: { ...ports.agents, send: () => Promise.resolve(true) } }),
  },
  {
    name: "a message called used before its agent has worked",
    ports: (ports) =>
      onAppend(ports, async (events) => {
        const [started] = events;
        if (started?.type !== "iteration.started") return events;
        const { run, task, iteration } = started;
        const { steers } = evolveAll(await ports.log.read(0));
        const used = steers.map(({ id }): Event => ({
          type: "steer.used",
          run,
          task,
          iteration,
          id,
          how: "prompt",
        }));
        return [...events, ...used];
      }),
  },
  {
    name: "a suspended agent goes on",
    ports: (ports) => onAppend(ports, (events) => events.filter((event) => event.type !== "agent.suspended")),
  },
  {
    name: "leftovers not committed",
    ports: (ports, world) => ({
      ...ports,
      workspace: {
        ...ports.workspace,
        collect: (request) => {
          const { head } = world.repository;
          return Promise.resolve({
            headBefore: request.from.head,
            headAfter: head,
            changed: { files: 1, paths: ["a.ts"] },
            changedSinceTaskBegan: { files: 1, paths: ["a.ts"] },
            uncommitted: [],
            leftOut: [],
            strayedTo: null,
            marksTakenBack: [],
            ...NOTHING_FOUND,
          });
        },
      },
    }),
  },
  {
    name: "the agent's own marks believed",
    ports: (ports) => withList(ports, () => ({ putBack: () => Promise.resolve([]) })),
  },
  {
    name: "what was kept of the list is lost with the process",
    ports: (ports) => {
      let isKept = false;
      return withList(ports, (list) => ({
        keep: () => {
          isKept = true;
          return list.keep();
        },
        putBack: (request) => (isKept ? list.putBack(request) : Promise.resolve([])),
      }));
    },
  },
  {
    name: "an interrupted run begun anew",
    ports: (ports) =>
      onAppend(ports, (events) =>
        events.map((event) =>
          event.type === "run.resumed"
            ? { ...event, type: "run.started" as const, run: `${event.run}+`, version: "" }
            : event,
        ),
      ),
  },
  {
    name: "evidence recorded twice",
    ports: (ports) =>
      onAppend(ports, (events) =>
        events[0]?.type === "evidence.collected" ? [...events, ...events] : events,
      ),
  },
  {
    name: "an agent's change to a letter believed",
    characters: ["asks", "blocks", "forges-letters"],
    ports: (ports) =>
      onAppend(ports, (events) => events.filter((event) => event.type !== "letter.disturbed")),
  },
  {
    name: "letters not written",
    ports: (ports) => ({ ...ports, inboxFiles: { ...ports.inboxFiles, publish: () => Promise.resolve("") } }),
  },
  {
    name: "the number of an interrupted iteration used again",
    ports: (ports) => {
      let lost = 0;
      return onAppend(ports, (events) =>
        events.map((event) => {
          if (event.type === "iteration.ended" && event.report.ending.is === "interrupted")
            lost = event.iteration;
          return event.type === "iteration.started" && lost > 0 ? { ...event, iteration: lost } : event;
        }),
      );
    },
  },
  {
    name: "a task is complete after its first stage",
    ports: (ports) =>
      onAppend(ports, (events) =>
        events.map((event) =>
          event.type === "stage.passed"
            ? { ...event, type: "task.completed", commit: null, certificate: NO_CERTIFICATE }
            : event,
        ),
      ),
  },
  {
    name: "any earlier session is gone on with",
    ports: (ports) => {
      let last: string | null = null;
      const run: Ports["agents"]["run"] = async (request, signal) => {
        const session = last === null ? null : { id: last, used: UNKNOWN_USAGE };
        const report = await ports.agents.run({ ...request, session }, signal);
        last = report.sessionId ?? null;
        return report;
      };
      return { ...ports, agents: { ...ports.agents, run } };
    },
  },
  {
    name: "a snapshot that skips the last fact",
    ports: (ports) => ({
      ...ports,
      log: forwarding(ports.log, {
        loadSnapshot: async () => {
          const events = await ports.log.read(0);
          return { ...evolveAll(events.slice(0, -1)), position: events.length };
        },
      }),
    }),
  },
  {
    name: "decisions appended whatever came between",
    ports: (ports) => ({
      ...ports,
      log: forwarding(ports.log, { append: (events) => ports.log.append(events) }),
    }),
    ignoresLock: true,
  },
  ...VERDICT_MUTANTS,
  ...STORY_MUTANTS,
];

const NO_CERTIFICATE: Certificate = {
  claim: null,
  agent: "",
  base: null,
  changed: { files: 0, paths: [] },
  gates: [],
  checks: [],
  warnings: [],
  iterations: 1,
  costUsd: null,
};
