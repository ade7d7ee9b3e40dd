import { stripEscapes } from "../words/strip-escapes.ts";

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

/** Undefined for what is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // others wrote it, and who asks knows what to do without
  }
}

/** The events in a line of a stream, one or an array of them; null when it is damaged, or something else. */
export function readJsonLine(line: string): readonly Fields[] | null {
  const text = line.trim();
  if (text === "") return [];
  const found = objectsIn(text);
  if (found !== null) return found;
  // Coloured, or one of an array's lines.
  const plain = stripEscapes(text).trim().replace(/,$/, "");
  return /^[[\]]?$/.test(plain) ? [] : objectsIn(plain);
}

function objectsIn(text: string): readonly Fields[] | null {
  const json = /^[[{]/.test(text) ? parsedJson(text) : undefined;
  if (isFields(json)) return [json];
  return Array.isArray(json) && json.every(isFields) ? json : null;
}
