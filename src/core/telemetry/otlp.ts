import type { Instant } from "../time.ts";

/** A value of an attribute; null is left out. A number that may have a fraction is one also when it has none. */
export type Attribute = Present | null | undefined;
type Present = string | number | boolean | { readonly double: number };
export type Attributes = Readonly<Record<string, Attribute>>;

/** Attributes as the OpenTelemetry protocol has them in JSON: 64-bit numbers are texts there. */
export function keyValues(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: Present): object {
  if (typeof value === "object") return { doubleValue: value.double };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Nanoseconds, as a text. */
export function nanos(at: Instant): string {
  return `${Math.round(at)}000000`;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** `client`: what it stands for is another program's work. */
  readonly kind: "internal" | "client";
  readonly from: Instant;
  readonly to: Instant;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

const KINDS = { internal: 1, client: 3 } as const;
const STATUS = { unset: 0, error: 2 } as const;

export function spanJson(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanos(span.from),
    endTimeUnixNano: nanos(Math.max(span.from, span.to)),
    attributes: keyValues(span.attributes),
    status: { code: span.isError ? STATUS.error : STATUS.unset },
  };
}
