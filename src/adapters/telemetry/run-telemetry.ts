import type { EventOf, Recorded } from "../../core/events.ts";
import { EXIT_CODES } from "../../core/loop/outcome.ts";
import type { State } from "../../core/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { isFailing } from "../../core/verdict/checked-gate.ts";
import { keepRecord, type IterationRecord } from "../../core/views/iteration-record.ts";
import { elapsedMs, type Instant } from "../../core/time.ts";
import {
  type Attributes,
  genAiAttributes,
  inputTokens,
  keyValues,
  nanos,
  OPERATION,
  type ProviderOf,
  type Span,
  spanIdOf,
  traceIdOf,
} from "./otlp.ts";

const SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600];
/** Those of the semantic conventions. */
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Turns facts into spans (run, tasks, iterations) when what they stand for is over, and counts from its own beginning on. */
export class RunTelemetry {
  readonly #providerOf: ProviderOf;
  /** Only of what this one recorded; the others tell their own. */
  readonly #worker: string | undefined;
  readonly #open = new Map<number, IterationRecord>();
  readonly #own = new Set<number>();
  readonly #tasks = new Map<string, TaskSpan>();
  readonly #metrics = {
    iterations: new Metric("ralph.iterations", "{iteration}", "Iterations, by verdict", "count"),
    tasks: new Metric("ralph.tasks.completed", "{task}", "Tasks that were accepted", "count"),
    runs: new Metric("ralph.runs", "{run}", "Runs that ended, by outcome", "count"),
    cost: new Metric("ralph.cost", "{USD}", "What agents cost, as far as it is known", "sum"),
    tokens: new Metric("gen_ai.client.token.usage", "{token}", "Tokens of an agent", TOKENS),
    agent: new Metric("gen_ai.client.operation.duration", "s", "Time of an agent", SECONDS),
    whole: new Metric("ralph.iteration.duration", "s", "Time of an iteration", SECONDS),
    gates: new Metric("ralph.gate.duration", "s", "Time of a gate", SECONDS),
  };

  constructor(providerOf: ProviderOf, worker?: string) {
    this.#providerOf = providerOf;
    this.#worker = worker;
  }

  see(event: Recorded, state: State): readonly Span[] {
    if (event.type === "run.started") this.#tasks.clear();
    if (event.type === "run.ended") return this.#isOwn(event.worker) ? this.#end(event, state) : [];
    if (!("iteration" in event)) return [];
    const { iteration } = event;
    if (event.type === "iteration.started" && this.#isOwn(event.worker)) this.#own.add(iteration);
    const isOwn = this.#own.has(iteration);
    if (event.type === "task.completed" && isOwn) this.#metrics.tasks.add(1, {});
    const record = keepRecord(this.#open, event);
    if (record === undefined) return [];
    if (isOwn) this.#measure(event, record);
    if (event.type !== "verdict.reached") return [];
    this.#open.delete(iteration);
    const before = this.#tasks.get(event.task) ?? { from: record.startedAt, iterations: 0 };
    this.#tasks.set(event.task, { ...before, to: event.at, iterations: before.iterations + 1 });
    return isOwn ? iterationSpans(record, event.at, this.#providerOf) : [];
  }

  /** Every metric so far, as the protocol has it. */
  collect(from: Instant, to: Instant): readonly object[] {
    return Object.values(this.#metrics).flatMap((metric) => metric.json(from, to) ?? []);
  }

  #isOwn(worker: string | undefined): boolean {
    return this.#worker === undefined || worker === this.#worker;
  }

  #measure(event: Recorded, record: IterationRecord): void {
    const { iterations, gates, whole } = this.#metrics;
    if (event.type === "iteration.ended") this.#measureAgent(record.agent, event);
    if (event.type === "gates.checked")
      for (const { name, status, durationMs } of event.gates)
        gates.add(durationMs / 1_000, { "ralph.gate.name": name, "ralph.gate.status": status });
    if (event.type !== "verdict.reached") return;
    const about = { "ralph.verdict": event.verdict, "gen_ai.agent.name": record.agent };
    iterations.add(1, about);
    whole.add(elapsedMs(record.startedAt, event.at) / 1_000, about);
  }

  #measureAgent(agent: string, { report }: EventOf<"iteration.ended">): void {
    const { usage, failure, durationMs } = report;
    const model = { "gen_ai.request.model": report.model ?? null };
    const about: Attributes = {
      "gen_ai.operation.name": OPERATION,
      "gen_ai.provider.name": this.#providerOf(agent),
      ...model,
    };
    this.#metrics.agent.add(durationMs / 1_000, { ...about, "error.type": failure?.class });
    const types = { input: inputTokens(usage), output: usage.outputTokens };
    for (const [type, count] of Object.entries(types))
      if (count !== null) this.#metrics.tokens.add(count, { ...about, "gen_ai.token.type": type });
    if (usage.costUsd !== null)
      this.#metrics.cost.add(usage.costUsd, { "gen_ai.agent.name": agent, ...model });
  }

  #end({ run, outcome, at }: Recorded<EventOf<"run.ended">>, state: State): readonly Span[] {
    this.#metrics.runs.add(1, { "ralph.outcome": outcome });
    const whole = spanOf(run, ["run"], null, {
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
    });
    const tasks = [...this.#tasks].map(([id, { from, to, iterations }]) => {
      const task = state.plan?.tasks.find((one) => one.id === id);
      const status = task === undefined ? "gone" : statusOf(state, task);
      return spanOf(run, ["task", id], whole.spanId, {
        name: `task ${id}`,
        from,
        to,
        attributes: { "ralph.task.id": id, "ralph.task.status": status, "ralph.iterations": iterations },
        isError: status === "blocked" || status === "failed",
      });
    });
    this.#tasks.clear();
    return [whole, ...tasks];
  }
}

interface TaskSpan {
  readonly from: Instant;
  readonly to: Instant;
  readonly iterations: number;
}

/** An iteration that is judged: itself, its agent, what was read, seen and checked, and the verdict. */
function iterationSpans(record: IterationRecord, judgedAt: Instant, providerOf: ProviderOf): readonly Span[] {
  const { run, iteration, startedAt, times, evidence, verdict, agent, report } = record;
  const path = ["iteration", iteration];
  const endedAt = times["iteration.ended"] ?? startedAt;
  const seenAt = times["evidence.collected"] ?? endedAt;
  const checkedAt = times["gates.checked"] ?? seenAt;
  const isError = verdict === "rejected" || verdict === "failed";
  const whole = spanOf(run, path, spanIdOf(run, "task", record.task), {
    name: `iteration ${iteration}`,
    from: startedAt,
    to: judgedAt,
    attributes: aboutIteration(record),
    isError,
  });
  const parts: Part[] = [];
  if (report !== null)
    parts.push(
      {
        name: `invoke_agent ${agent}`,
        from: Math.max(startedAt, endedAt - report.durationMs),
        to: endedAt,
        kind: "client",
        attributes: genAiAttributes(agent, report, providerOf),
        isError: report.failure !== null,
      },
      {
        name: "signals",
        from: endedAt,
        to: endedAt,
        attributes: {
          "ralph.claim": report.claim.is,
          "ralph.confidence": report.signals?.confidence,
          "ralph.contradictions": report.signals?.contradictions.length,
        },
      },
    );
  if (evidence !== null) {
    const seen = { "ralph.files_changed": evidence.changed.files, "ralph.commit": evidence.headAfter };
    parts.push({ name: "evidence", from: endedAt, to: seenAt, attributes: seen });
  }
  const attributes = {
    "ralph.verdict": verdict,
    "ralph.rules": record.reasons.map(({ rule }) => rule).join(","),
    "ralph.made_progress": record.madeProgress,
  };
  parts.push(...gateParts(record, checkedAt), {
    name: "verdict",
    from: checkedAt,
    to: judgedAt,
    attributes,
    isError,
  });
  return [whole, ...parts.map((part) => spanOf(run, [...path, part.name], whole.spanId, part))];
}

/** Gates run one after another, so the end of all tells when each began. */
function gateParts({ gates }: IterationRecord, checkedAt: Instant): readonly Part[] {
  let from = checkedAt - gates.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return gates.map(({ name, status, exitCode, durationMs, required }) => ({
    name: `gate ${name}`,
    from,
    to: (from += durationMs),
    attributes: {
      "ralph.gate.name": name,
      "ralph.gate.status": status,
      "ralph.gate.exit_code": exitCode,
      "ralph.gate.required": required,
    },
    isError: isFailing(status),
  }));
}

type Part = Pick<Span, "name" | "from" | "to" | "attributes"> & Partial<Pick<Span, "kind" | "isError">>;

function spanOf(run: string, path: readonly (string | number)[], parentId: string | null, part: Part): Span {
  const ids = { traceId: traceIdOf(run), spanId: spanIdOf(run, ...path), parentId };
  return { ...ids, kind: "internal", isError: false, ...part };
}

function aboutIteration(record: IterationRecord): Attributes {
  return {
    "ralph.run.id": record.run,
    "ralph.task.id": record.task,
    "ralph.iteration": record.iteration,
    "ralph.ordinal": record.ordinal,
    "ralph.stage": record.stage,
    "ralph.lane": record.lane,
    "ralph.complexity": record.complexity,
    "ralph.worker": record.worker,
    "ralph.verdict": record.verdict,
    "gen_ai.agent.name": record.agent,
  };
}

const CUMULATIVE = 2;

interface Point {
  readonly attributes: Attributes;
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

/** Adds up, from the beginning of the process, by what each value is about. */
export class Metric {
  readonly #about: { readonly name: string; readonly unit: string; readonly description: string };
  /** `count`: a sum of whole numbers; bounds: a histogram. */
  readonly #kind: "count" | "sum" | readonly number[];
  readonly #points = new Map<string, Point>();

  constructor(name: string, unit: string, description: string, kind: "count" | "sum" | readonly number[]) {
    this.#about = { name, unit, description };
    this.#kind = kind;
  }

  add(value: number, attributes: Attributes): void {
    const key = JSON.stringify(attributes);
    const bounds = typeof this.#kind === "string" ? [] : this.#kind;
    const counts = Array.from({ length: bounds.length + 1 }, () => 0);
    const empty = { attributes, counts, count: 0, sum: 0, min: Infinity, max: -Infinity };
    const point = this.#points.get(key) ?? empty;
    // A bound belongs to the bucket below it.
    const over = bounds.findIndex((bound) => value <= bound);
    const at = over === -1 ? bounds.length : over;
    point.counts[at] = (point.counts[at] ?? 0) + 1;
    point.count += 1;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    this.#points.set(key, point);
  }

  /** As the protocol has it; null as long as there is nothing. */
  json(from: Instant, to: Instant): object | null {
    if (this.#points.size === 0) return null;
    const kind = this.#kind;
    const dataPoints = [...this.#points.values()].map(({ attributes, counts, count, sum, min, max }) => ({
      attributes: keyValues(attributes),
      startTimeUnixNano: nanos(from),
      timeUnixNano: nanos(to),
      ...(kind === "count" && { asInt: String(sum) }),
      ...(kind === "sum" && { asDouble: sum }),
      ...(typeof kind !== "string" && {
        count: String(count),
        sum,
        min,
        max,
        bucketCounts: counts.map(String),
        explicitBounds: kind,
      }),
    }));
    const data = { dataPoints, aggregationTemporality: CUMULATIVE };
    return typeof kind === "string"
      ? { ...this.#about, sum: { ...data, isMonotonic: true } }
      : { ...this.#about, histogram: data };
  }
}
