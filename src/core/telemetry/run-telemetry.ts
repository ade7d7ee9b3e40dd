import type { EventOf, Recorded } from "../events.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import { isFailing } from "../report/checked-gate.ts";
import { elapsedMs, type Instant } from "../time.ts";
import { genAiAttributes, inputTokens, keyValues, nanos, OPERATION, spanIdOf, traceIdOf } from "./otlp.ts";
import type { Attributes, ProviderOf, Span } from "./otlp.ts";

/** Turns facts into spans: run, tasks, iterations. A span is made when what it stands for is over. */
export class RunSpans {
  readonly #providerOf: ProviderOf;
  /** Only of what this one recorded; the others tell their own. */
  readonly #worker: string | undefined;
  readonly #open = new Map<number, IterationFacts>();
  readonly #tasks = new Map<
    string,
    { readonly from: Instant; readonly to: Instant; readonly iterations: number }
  >();

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

/** The facts of one iteration as far as they have come. */
interface IterationFacts {
  readonly started: Recorded<EventOf<"iteration.started">>;
  readonly ended?: Recorded<EventOf<"iteration.ended">>;
  readonly evidence?: Recorded<EventOf<"evidence.collected">>;
  readonly gates?: Recorded<EventOf<"gates.checked">>;
}

/** An iteration that is judged: itself, its agent, what was read, seen and checked, and the verdict. */
function iterationSpans(
  facts: IterationFacts,
  verdict: Recorded<EventOf<"verdict.reached">>,
  providerOf: ProviderOf,
): readonly Span[] {
  const { started } = facts;
  const { run, task, iteration } = started;
  const traceId = traceIdOf(run);
  const spanId = spanIdOf(run, "iteration", iteration);
  const span = (name: string, of: Omit<Span, "traceId" | "parentId" | "name" | "kind" | "spanId">): Span => ({
    traceId,
    parentId: spanId,
    spanId: spanIdOf(run, "iteration", iteration, name),
    name,
    kind: "internal",
    ...of,
  });
  const isRefused = verdict.verdict === "rejected" || verdict.verdict === "failed";
  const whole: Span = {
    traceId,
    spanId,
    parentId: spanIdOf(run, "task", task),
    name: `iteration ${iteration}`,
    kind: "internal",
    from: started.at,
    to: verdict.at,
    attributes: { ...aboutIteration(started), "ralph.verdict": verdict.verdict },
    isError: isRefused,
  };
  const judged = facts.gates ?? facts.evidence ?? facts.ended ?? started;
  return [
    whole,
    ...agentSpans(facts, providerOf, span),
    ...gateSpans(facts, span),
    span("verdict", {
      from: judged.at,
      to: verdict.at,
      attributes: {
        "ralph.verdict": verdict.verdict,
        "ralph.rules": verdict.reasons.map(({ rule }) => rule).join(","),
        "ralph.made_progress": verdict.madeProgress,
      },
      isError: isRefused,
    }),
  ];
}

type MakeSpan = (
  name: string,
  of: Pick<Span, "from" | "to" | "attributes" | "isError"> & Partial<Pick<Span, "kind">>,
) => Span;

function agentSpans(
  { started, ended, evidence }: IterationFacts,
  providerOf: ProviderOf,
  span: MakeSpan,
): readonly Span[] {
  if (ended === undefined) return [];
  const { report } = ended;
  const agent = span(`invoke_agent ${started.agent}`, {
    kind: "client",
    from: Math.max(started.at, ended.at - report.durationMs),
    to: ended.at,
    attributes: genAiAttributes(started.agent, report, providerOf),
    isError: report.failure !== null,
  });
  const signals = span("signals", {
    from: ended.at,
    to: ended.at,
    attributes: {
      "ralph.claim": report.claim.is,
      "ralph.confidence": report.signals?.confidence,
      "ralph.contradictions": report.signals?.contradictions.length,
    },
    isError: false,
  });
  if (evidence === undefined) return [agent, signals];
  const { changed, headAfter } = evidence.evidence;
  const seen = span("evidence", {
    from: ended.at,
    to: evidence.at,
    attributes: { "ralph.files_changed": changed.files, "ralph.commit": headAfter },
    isError: false,
  });
  return [agent, signals, seen];
}

/** They run one after another, so the end of all tells when each began. */
function gateSpans({ gates: checked }: IterationFacts, span: MakeSpan): readonly Span[] {
  if (checked === undefined) return [];
  let from: Instant = checked.at - checked.gates.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return checked.gates.map(({ name, status, exitCode, durationMs, required }) => {
    const begun = from;
    from += durationMs;
    return span(`gate ${name}`, {
      from: begun,
      to: from,
      attributes: {
        "ralph.gate.name": name,
        "ralph.gate.status": status,
        "ralph.gate.exit_code": exitCode,
        "ralph.gate.required": required,
      },
      isError: isFailing(status),
    });
  });
}

function aboutIteration(started: EventOf<"iteration.started">): Attributes {
  return {
    "ralph.run.id": started.run,
    "ralph.task.id": started.task,
    "ralph.iteration": started.iteration,
    "ralph.ordinal": started.ordinal,
    "ralph.stage": started.stage,
    "ralph.lane": started.lane,
    "ralph.complexity": started.complexity,
    "ralph.worker": started.worker,
    "gen_ai.agent.name": started.agent,
  };
}

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
    if (begun !== undefined) this.#whole.record(elapsedMs(begun.at, at) / 1_000, about);
    this.#agents.delete(iteration);
  }
}

/** Adds up, from the beginning of the process, by what each value is about. */
interface Instrument {
  /** As the protocol has it; null as long as there is nothing. */
  json(from: Instant, to: Instant): object | null;
}

const CUMULATIVE = 2;

export class Sum implements Instrument {
  readonly #about: { readonly name: string; readonly unit: string; readonly description: string };
  readonly #isWhole: boolean;
  readonly #points = new Map<string, { readonly attributes: Attributes; value: number }>();

  constructor(name: string, unit: string, description: string, isWhole: boolean) {
    this.#about = { name, unit, description };
    this.#isWhole = isWhole;
  }

  add(value: number, attributes: Attributes): void {
    const key = JSON.stringify(attributes);
    const point = this.#points.get(key) ?? { attributes, value: 0 };
    point.value += value;
    this.#points.set(key, point);
  }

  json(from: Instant, to: Instant): object | null {
    if (this.#points.size === 0) return null;
    const dataPoints = [...this.#points.values()].map(({ attributes, value }) => ({
      ...within(from, to, attributes),
      ...(this.#isWhole ? { asInt: String(value) } : { asDouble: value }),
    }));
    return { ...this.#about, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  }
}

interface Buckets {
  readonly attributes: Attributes;
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

export class Histogram implements Instrument {
  readonly #about: { readonly name: string; readonly unit: string; readonly description: string };
  readonly #bounds: readonly number[];
  readonly #points = new Map<string, Buckets>();

  constructor(name: string, unit: string, description: string, bounds: readonly number[]) {
    this.#about = { name, unit, description };
    this.#bounds = bounds;
  }

  record(value: number, attributes: Attributes): void {
    const key = JSON.stringify(attributes);
    const point = this.#points.get(key) ?? this.#empty(attributes);
    // A bound belongs to the bucket below it.
    const over = this.#bounds.findIndex((bound) => value <= bound);
    const at = over === -1 ? this.#bounds.length : over;
    point.counts[at] = (point.counts[at] ?? 0) + 1;
    point.count += 1;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    this.#points.set(key, point);
  }

  json(from: Instant, to: Instant): object | null {
    if (this.#points.size === 0) return null;
    const dataPoints = [...this.#points.values()].map(({ attributes, counts, count, sum, min, max }) => ({
      ...within(from, to, attributes),
      count: String(count),
      sum,
      min,
      max,
      bucketCounts: counts.map(String),
      explicitBounds: this.#bounds,
    }));
    return { ...this.#about, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
  }

  #empty(attributes: Attributes): Buckets {
    const counts = Array.from({ length: this.#bounds.length + 1 }, () => 0);
    return { attributes, counts, count: 0, sum: 0, min: Infinity, max: -Infinity };
  }
}

function within(from: Instant, to: Instant, attributes: Attributes): object {
  return { attributes: keyValues(attributes), startTimeUnixNano: nanos(from), timeUnixNano: nanos(to) };
}
