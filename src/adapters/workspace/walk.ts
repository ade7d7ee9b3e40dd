import type { Snapshot } from "../../engine/ports.ts";
import { readStatus, type StatusEntry, type StatusPlace } from "./read-status.ts";

/** The walk over the work tree. It takes the longest of all looks, so it may begin before anybody needs it. */
export interface Walk {
  begin(): void;
  /** Resolves when no walk is under way: whoever moves HEAD and the index is not in its way then. */
  settled(): Promise<void>;
  /** What the walk found that has begun; without one, or when HEAD has moved since, of a new one. */
  entries(): Promise<readonly StatusEntry[]>;
}

/** To write a big index down takes longer than to look again at the few folders that change all the time. */
const REFRESH_EVERY = 10;

export function createWalk(place: StatusPlace, readHead: () => Promise<Snapshot>): Walk {
  let begun: { readonly head: Promise<Snapshot>; readonly entries: Promise<StatusEntry[]> } | null = null;
  let walks = 0;
  const walk = async (): Promise<StatusEntry[]> => {
    const mayRefresh = walks % REFRESH_EVERY === 0 || !(await place.untracked.isUsed());
    walks += 1;
    return readStatus(place, { mayRefresh });
  };
  return {
    begin() {
      begun = { head: readHead(), entries: walk() };
      for (const part of [begun.head, begun.entries]) part.catch(() => {}); // told to whoever asks for it
    },
    async settled() {
      await begun?.entries.catch(() => {}); // told to whoever asks for it
    },
    async entries() {
      const ahead = begun;
      begun = null;
      if (ahead === null) return walk();
      // One that failed says nothing of how it is now.
      const [before, now] = await Promise.all([ahead.head.catch(() => null), readHead()]);
      const isMoved = before === null || before.head !== now.head || before.branch !== now.branch;
      return isMoved ? walk() : ahead.entries.catch(walk);
    },
  };
}
