import type { EventOf, Recorded } from "../events.ts";
import type { Instant } from "../time.ts";
import { inputTokens, OPERATION, type ProviderOf } from "./gen-ai.ts";
import { Histogram, Sum, type Instrument } from "./instruments.ts";
import type { Attributes } from "./otlp.ts";

const SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600];
/** Those of the semantic conventions. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Counts what happens, from the beginning of this process on. */
export class RunMetrics {
  readonly #providerOf: ProviderOf;
  readonly #worker: string | undefined;
  readonly #own = new Set<number>();
  readonly #agents = new Map<number, { readonly agent: string; readonly at: Instant }>();
  readonly #iterations = new Sum("ralph.iterations", "{iteration}", "Iterations, by verdict", true);
  readonly #tasks = new Sum("ralph.tasks.completed", "{task}", "Tasks that were accepted", true);
  readonly #runs = new Sum("ralph.runs", "{run}", "Runs that ended, by outcome", true);
  readonly #cost = new Sum("ralph.cost", "{USD}", "What agents cost, as far as it is known", false);
  readonly #tokens = new Histogram("gen_ai.client.token.usage", "{token}", "Tokens of an agent", TOKENS);
  readonly #duration = new Histogram("gen_ai.client.operation.duration", "s", "Time of an agent", SECONDS);
  readonly #whole = new Histogram("ralph.iteration.duration", "s", "Time of an iteration", SECONDS);
  readonly #gates = new Histogram("ralph.gate.duration", "s", "Time of a gate", SECONDS);

  constructor(providerOf: ProviderOf, worker?: string) {
    this.#providerOf = providerOf;
    this.#worker = worker;
  }

  see(event: Recorded): void {
    if (event.type === "iteration.started") return this.#begin(event);
    if (event.type === "run.ended" && this.#isOwn(event.worker))
      return this.#runs.add(1, { "ralph.outcome": event.outcome });
    if (!("iteration" in event) || !this.#own.has(event.iteration)) return;
    switch (event.type) {
      case "iteration.ended":
        return this.#seeAgent(event);
      case "gates.checked":
        for (const { name, status, durationMs } of event.gates)
          this.#gates.record(durationMs / 1_000, { "ralph.gate.name": name, "ralph.gate.status": status });
        return;
      case "verdict.reached":
        return this.#seeVerdict(event);
      case "task.completed":
        return this.#tasks.add(1, {});
      default:
    }
  }

  /** Everything so far, as the protocol has it. */
  collect(from: Instant, to: Instant): readonly object[] {
    const all: readonly Instrument[] = [
      this.#iterations,
      this.#tasks,
      this.#runs,
      this.#cost,
      this.#tokens,
      this.#duration,
      this.#whole,
      this.#gates,
    ];
    return all.flatMap((instrument) => instrument.json(from, to) ?? []);
  }

  #isOwn(worker: string | undefined): boolean {
    return this.#worker === undefined || worker === this.#worker;
  }

  #begin({ iteration, agent, at, worker }: Recorded<EventOf<"iteration.started">>): void {
    if (!this.#isOwn(worker)) return;
    this.#own.add(iteration);
    this.#agents.set(iteration, { agent, at });
  }

  #seeAgent({ iteration, report }: EventOf<"iteration.ended">): void {
    const agent = this.#agents.get(iteration)?.agent ?? "";
    const { usage, model, failure, durationMs } = report;
    const about: Attributes = {
      "gen_ai.operation.name": OPERATION,
      "gen_ai.provider.name": this.#providerOf(agent),
      "gen_ai.request.model": model ?? null,
    };
    this.#duration.record(durationMs / 1_000, { ...about, "error.type": failure?.class });
    const types = { input: inputTokens(usage), output: usage.outputTokens };
    for (const [type, count] of Object.entries(types))
      if (count !== null) this.#tokens.record(count, { ...about, "gen_ai.token.type": type });
    if (usage.costUsd !== null)
      this.#cost.add(usage.costUsd, {
        "gen_ai.agent.name": agent,
        "gen_ai.request.model": model ?? null,
      });
  }

  #seeVerdict({ iteration, verdict, at }: Recorded<EventOf<"verdict.reached">>): void {
    const begun = this.#agents.get(iteration);
    const about = { "ralph.verdict": verdict, "gen_ai.agent.name": begun?.agent };
    this.#iterations.add(1, about);
    if (begun !== undefined) this.#whole.record((at - begun.at) / 1_000, about);
    this.#agents.delete(iteration);
  }
}
