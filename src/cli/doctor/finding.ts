import { RalphError } from "../../core/ralph-error.ts";

/** One thing that was looked at; `advice` says what to do when it is not well. */
export interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly found: string;
  readonly advice: string | null;
  /** Puts it right where that can do no harm; answers what it did. */
  readonly mend?: () => Promise<string>;
}

export function problem(name: string, error: unknown): Finding {
  if (!(error instanceof RalphError)) throw error;
  return { name, well: false, found: error.message, advice: error.hint ?? null };
}
