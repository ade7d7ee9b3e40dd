import { AssertionError } from "node:assert";
import { RalphError } from "../../src/core/errors.ts";

/** A sentence for a person, or the mistake with its place, which becomes one. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof RalphError) return error.code !== "internal";
  return error instanceof Error && !(error instanceof AssertionError) && !CRASHES.has(error.constructor.name);
}

const CRASHES: ReadonlySet<string> = new Set([
  "Error",
  "TypeError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
]);
