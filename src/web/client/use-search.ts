import { useState } from "preact/hooks";
import type { TextHit } from "../api.ts";
import { get, withQuery } from "./api-client.ts";
import { count } from "./format.ts";

export interface Search {
  readonly hits: number;
  /** How it went, in few words. */
  readonly says: string;
  /** Looks for it, or goes on to the next place of the same. */
  look(text: string): Promise<void>;
  /** To the next place, or with -1 to the one before. */
  step(by: number): void;
}

interface Found {
  readonly text: string;
  readonly hits: readonly TextHit[];
  readonly at: number;
}

/** Places of a text in the whole transcript of an iteration. */
export function useSearch(iteration: number, onJump: (byte: number) => void): Search {
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const go = (next: Found): void => {
    setFound(next);
    const hit = next.hits[next.at];
    if (hit !== undefined) onJump(hit.at);
  };
  const step = (by: number): void => {
    if (found === null || found.hits.length === 0) return;
    go({ ...found, at: (found.at + by + found.hits.length) % found.hits.length });
  };
  const look = async (text: string): Promise<void> => {
    if (text === "") return;
    if (found?.text === text) {
      step(1);
      return;
    }
    const path = withQuery(`/api/iterations/${iteration}/search`, { q: text });
    const answer = await get<readonly TextHit[]>(path);
    setProblem(answer.is === "problem" ? answer.problem.message : null);
    if (answer.is === "ok") go({ text, hits: answer.value, at: 0 });
  };
  return { hits: found?.hits.length ?? 0, says: problem ?? saysOf(found), look, step };
}

function saysOf(found: Found | null): string {
  if (found === null) return "";
  const { hits, at } = found;
  return hits.length === 0 ? "nothing found" : `${at + 1} of ${count(hits.length, "place")}`;
}
