import type { Test } from "./read-tests.ts";

export interface Pairing {
  /** A test before and after, wherever it is now. */
  readonly pairs: readonly (readonly [before: Test, after: Test])[];
  readonly gone: readonly Test[];
  readonly added: readonly Test[];
}

const KEYS: readonly ((test: Test) => string | null)[] = [
  ({ path, name }) => `${path}\0${name}`,
  ({ name }) => name,
  // Under another name: too short a body says nothing.
  ({ fingerprint }) => (fingerprint.length < 20 ? null : fingerprint),
];

/** Finds each test again: in its file, in another one, under another name. */
export function pairTests(before: readonly Test[], after: readonly Test[]): Pairing {
  const pairs: (readonly [Test, Test])[] = [];
  let [gone, added] = [before, after];
  for (const key of KEYS) {
    const waiting = new Map<string, Test[]>();
    for (const test of added.toReversed()) {
      const words = key(test);
      if (words !== null) getOrAdd(waiting, words).push(test);
    }
    const taken = new Set<Test>();
    gone = gone.filter((test) => {
      const words = key(test);
      const found = words === null ? undefined : waiting.get(words)?.pop();
      if (found === undefined) return true;
      taken.add(found);
      pairs.push([test, found]);
      return false;
    });
    added = added.filter((test) => !taken.has(test));
  }
  return { pairs, gone, added };
}

function getOrAdd(map: Map<string, Test[]>, key: string): Test[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}
