import { fingerprint } from "../fingerprint.ts";

/** The trace of a run: the same for every process that goes on with it, and for every worker that shares it. */
export function traceIdOf(run: string): string {
  const hex = run.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) && /[^0]/.test(hex) ? hex : hash(["trace", run]) + hash([run, "trace"]);
}

/** The same for the same thing of a run, so that what is sent twice is known to be one. */
export function spanIdOf(run: string, ...path: readonly (string | number)[]): string {
  return hash([run, ...path]);
}

/** Eight bytes in hex, never all zero. */
function hash(value: unknown): string {
  const hex = fingerprint(value).padStart(16, "0");
  return /[^0]/.test(hex) ? hex : "0000000000000001";
}
