/** A JSON object whose fields nobody promised. */
export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** No fields when it is no object. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : NONE;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The moment an event tells of itself: ISO text or milliseconds. */
export function momentOf(value: unknown): number | null {
  const at = typeof value === "string" ? Date.parse(value) : numberOf(value);
  return at === null || Number.isNaN(at) ? null : at;
}
