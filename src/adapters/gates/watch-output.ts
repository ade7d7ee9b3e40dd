import type { GateExpectation } from "../../core/settings.ts";
import { createOutputSearch } from "./output-search.ts";

/** Compares what a gate prints with what is expected of it. */
export interface OutputWatch {
  readonly takeStdout: (chunk: Buffer) => void;
  readonly takeStderr: (chunk: Buffer) => void;
  /** What of the expectation is not met by the whole output; null when all is. */
  readonly unmet: () => string | null;
}

export function watchOutput({ outputContains, outputNotContains }: GateExpectation): OutputWatch {
  // A text is in one stream or in the other: which piece comes after which is chance.
  const [wantedOut, wantedErr] = [searchOf(outputContains), searchOf(outputContains)];
  const [refusedOut, refusedErr] = [searchOf(outputNotContains), searchOf(outputNotContains)];
  return {
    takeStdout(chunk) {
      wantedOut?.take(chunk);
      refusedOut?.take(chunk);
    },
    takeStderr(chunk) {
      wantedErr?.take(chunk);
      refusedErr?.take(chunk);
    },
    unmet() {
      const hasWanted = outputContains === null || wantedOut?.isFound() || wantedErr?.isFound();
      if (!hasWanted) return `its output does not contain ${JSON.stringify(outputContains)}`;
      if (refusedOut?.isFound() || refusedErr?.isFound())
        return `its output contains ${JSON.stringify(outputNotContains)}`;
      return null;
    },
  };
}

function searchOf(text: string | null): ReturnType<typeof createOutputSearch> | null {
  return text === null ? null : createOutputSearch(text);
}

/** An exit code other than 0 speaks for itself where 0 is expected. */
export function unmetExit(code: number, { exitCode }: GateExpectation): string | null {
  if (code === exitCode || exitCode === 0) return null;
  return `it exited with ${code} instead of ${exitCode}`;
}
