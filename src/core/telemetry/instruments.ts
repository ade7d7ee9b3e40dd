import type { Instant } from "../time.ts";
import { keyValues, nanos, type Attributes } from "./otlp.ts";

/** Adds up, from the beginning of the process, by what each value is about. */
export interface Instrument {
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
