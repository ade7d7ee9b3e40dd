import type { EventOf, Recorded } from "../events.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Instant } from "../time.ts";
import type { ProviderOf } from "./gen-ai.ts";
import { iterationSpans, type IterationFacts } from "./iteration-spans.ts";
import type { Span } from "./otlp.ts";
import { spanIdOf, traceIdOf } from "./span-ids.ts";

interface Worked {
  readonly from: Instant;
  readonly to: Instant;
  readonly iterations: number;
}

/** Turns facts into spans: run, tasks, iterations. A span is made when what it stands for is over. */
export class RunSpans {
  readonly #providerOf: ProviderOf;
  /** Only of what this one recorded; the others tell their own. */
  readonly #worker: string | undefined;
  readonly #open = new Map<number, IterationFacts>();
  readonly #tasks = new Map<string, Worked>();

  constructor(providerOf: ProviderOf, worker?: string) {
    this.#providerOf = providerOf;
    this.#worker = worker;
  }

  of(event: Recorded, state: State): readonly Span[] {
    switch (event.type) {
      case "run.started":
        this.#tasks.clear();
        return [];
      case "iteration.started":
        this.#open.set(event.iteration, { started: event });
        return [];
      case "iteration.ended":
        return this.#extend(event.iteration, { ended: event });
      case "evidence.collected":
        return this.#extend(event.iteration, { evidence: event });
      case "gates.checked":
        return this.#extend(event.iteration, { gates: event });
      case "verdict.reached":
        return this.#close(event);
      case "run.ended":
        return this.#isOwn(event.worker) ? this.#end(event, state) : [];
      default:
        return [];
    }
  }

  #isOwn(worker: string | undefined): boolean {
    return this.#worker === undefined || worker === this.#worker;
  }

  #extend(iteration: number, more: Partial<IterationFacts>): readonly Span[] {
    const facts = this.#open.get(iteration);
    if (facts !== undefined) this.#open.set(iteration, { ...facts, ...more });
    return [];
  }

  #close(verdict: Recorded<EventOf<"verdict.reached">>): readonly Span[] {
    const facts = this.#open.get(verdict.iteration);
    this.#open.delete(verdict.iteration);
    if (facts === undefined) return [];
    const before = this.#tasks.get(verdict.task);
    this.#tasks.set(verdict.task, {
      from: before?.from ?? facts.started.at,
      to: verdict.at,
      iterations: (before?.iterations ?? 0) + 1,
    });
    return this.#isOwn(facts.started.worker) ? iterationSpans(facts, verdict, this.#providerOf) : [];
  }

  #end({ run, outcome, at }: Recorded<EventOf<"run.ended">>, state: State): readonly Span[] {
    const traceId = traceIdOf(run);
    const runId = spanIdOf(run, "run");
    const common = { traceId, kind: "internal" as const };
    const tasks = [...this.#tasks].map(([id, { from, to, iterations }]): Span => {
      const task = state.plan?.tasks.find((one) => one.id === id);
      const status = task === undefined ? "gone" : statusOf(state, task);
      return {
        ...common,
        spanId: spanIdOf(run, "task", id),
        parentId: runId,
        name: `task ${id}`,
        from,
        to,
        attributes: { "ralph.task.id": id, "ralph.task.status": status, "ralph.iterations": iterations },
        isError: status === "blocked" || status === "failed",
      };
    });
    const whole: Span = {
      ...common,
      spanId: runId,
      parentId: null,
      name: "ralph run",
      from: state.run?.startedAt ?? at,
      to: at,
      attributes: {
        "ralph.run.id": run,
        "ralph.outcome": outcome,
        "ralph.exit_code": EXIT_CODES[outcome],
        "ralph.source": state.run?.settings.source.kind,
        "ralph.iterations": state.run?.iterations,
      },
      isError: outcome !== "completed" && outcome !== "stopped",
    };
    this.#tasks.clear();
    return [whole, ...tasks];
  }
}
