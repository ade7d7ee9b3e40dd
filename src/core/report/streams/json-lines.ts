import { stripEscapes } from "../strip-escapes.ts";
import { isFields } from "./json-fields.ts";

/** Finds the JSON objects in what should be one a line, but may be damaged, indented, in one array, or among noise. */
export interface JsonLines {
  readLine(line: string): void;
  end(): void;
  /** Lines that are no JSON, or only the beginning of it. Blank ones do not count. */
  damagedLines(): number;
}

const INDENTED_LENGTH_MAX = 16 * 1024 * 1024;

export function createJsonLines(onObject: (json: unknown) => void): JsonLines {
  let damaged = 0;
  /** Of an object that is spread over lines: its indentation, and its lines so far. */
  let open: { readonly indent: string; readonly lines: string[]; length: number } | null = null;

  const readWhole = (text: string): boolean => {
    const json = parse(text);
    if (json === undefined) return false;
    const objects = Array.isArray(json) ? json.filter(isFields) : isFields(json) ? [json] : [];
    for (const object of objects) onObject(object);
    return objects.length > 0 || (Array.isArray(json) && json.length === 0);
  };
  const readParts = (text: string): void => {
    const { parts, isWhole } = /^[[{,]/.test(text) ? objectsIn(text) : { parts: [], isWhole: false };
    const isRead = parts.map(readWhole);
    if (!isWhole || isRead.includes(false)) damaged += 1;
  };
  const readAlone = (line: string): void => {
    const text = line.trim();
    if (text === "" || readWhole(text)) return;
    const clean = stripEscapes(text).trim();
    if (BRACKET.test(clean) || clean === "") return;
    if (clean === "{") open = { indent: line.slice(0, line.indexOf("{")), lines: ["{"], length: 1 };
    else if (clean === text || !readWhole(clean)) readParts(clean);
  };
  const giveUp = (): void => {
    if (open !== null) damaged += 1;
    open = null;
  };
  const readInside = (line: string, { indent, lines }: { indent: string; lines: string[] }): void => {
    lines.push(line);
    if (!line.startsWith(`${indent}}`)) return;
    open = null;
    if (!readWhole(lines.join("\n").replace(/,\s*$/, ""))) damaged += 1;
  };
  return {
    readLine(line) {
      if (open !== null && (line.startsWith('{"') || open.length > INDENTED_LENGTH_MAX)) giveUp();
      if (open === null) return readAlone(line);
      open.length += line.length + 1;
      readInside(line, open);
    },
    end: giveUp,
    damagedLines: () => damaged,
  };
}

/** What stands around the objects of an indented array. */
const BRACKET = /^(?:\[|\]|,)$/;

function parse(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Parts {
  readonly parts: readonly string[];
  readonly isWhole: boolean;
}

/** The whole objects in a line that is more than one, or part of an array; and whether nothing else is there. */
function objectsIn(text: string): Parts {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let isWhole = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character === '"' && depth > 0) at = endOfString(text, at);
    else if (character === "{") {
      if (depth === 0) start = at;
      depth += 1;
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      if (depth === 0) parts.push(text.slice(start, at + 1));
    } else if (depth === 0 && !BETWEEN.test(character)) isWhole = false;
  }
  return { parts, isWhole: isWhole && depth === 0 && parts.length > 0 };
}

const BETWEEN = /[\s,[\]]/;

/** Braces within a string do not count. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
