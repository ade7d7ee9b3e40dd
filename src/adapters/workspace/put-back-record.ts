import type { CollectRequest } from "../../engine/ports.ts";
import type { Content } from "./kept-files.ts";
import type { PutAside } from "./put-aside.ts";

/** Written before anything is put back, so that a process that dies in between leaves all that the next one needs. */
export interface PutBackRecord {
  readonly paths: readonly string[];
  readonly kept: ReadonlyMap<string, Content> | null;
}

export function writePutBackRecord(
  aside: PutAside,
  { run, iteration }: CollectRequest,
  { paths, kept }: PutBackRecord,
): void {
  const files = kept === null ? null : [...kept].map(([path, content]) => [path, packed(content)]);
  aside.writeRecord({ run, iteration, paths, kept: files });
}

/** Null when there is none of this very iteration. The agent could write there, so nothing in it is trusted. */
export function readPutBackRecord(aside: PutAside, request: CollectRequest): PutBackRecord | null {
  const record = aside.readRecord();
  if (!isObject(record) || record["run"] !== request.run || record["iteration"] !== request.iteration)
    return null;
  const paths = listIn(record, "paths").filter((path) => typeof path === "string");
  const kept = Array.isArray(record["kept"]) ? new Map(listIn(record, "kept").flatMap(unpacked)) : null;
  return { paths: paths.filter((path) => request.isProtected(path)), kept };
}

type Fields = Readonly<Record<string, unknown>>;

function packed(content: Content): Fields {
  return content.is === "file" ? { ...content, bytes: content.bytes.toString("base64") } : { ...content };
}

function unpacked(pair: unknown): readonly (readonly [string, Content])[] {
  const [path, content] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
  if (typeof path !== "string" || !isObject(content)) return [];
  const { is, bytes, mode, target } = content;
  if (is === "file" && typeof bytes === "string" && typeof mode === "number")
    return [[path, { is, bytes: Buffer.from(bytes, "base64"), mode: mode & 0o777 }]];
  if (is === "link" && typeof target === "string") return [[path, { is, target }]];
  return is === "missing" || is === "other" ? [[path, { is }]] : [];
}

function listIn(record: Fields, key: string): readonly unknown[] {
  const value = record[key];
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
