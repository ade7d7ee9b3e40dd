import type { CheckoutChange, OwnCheckout } from "../../src/engine/parallel-ports.ts";
import type { Checkout } from "./checkout.ts";

/** What one process of ours sees of the user's checkout; the next one has told nobody anything. */
export function simulatedOwnCheckout(checkout: Checkout, step: () => Promise<void>): OwnCheckout {
  let toldHead: string | null = null;
  const toldPaths = new Set<string>();
  return {
    watch: async () => {
      await step();
      const before = lookAt(checkout);
      return async (isOurs) => {
        await step();
        const { head, paths } = differences(before, lookAt(checkout), isOurs);
        const news = {
          head: head === toldHead ? null : head,
          paths: paths.filter((name) => !toldPaths.has(name)),
        };
        toldHead = head ?? toldHead;
        for (const name of news.paths) toldPaths.add(name);
        return news.head === null && news.paths.length === 0 ? null : news;
      };
    },
  };
}

interface CheckoutLook {
  readonly head: string;
  /** What is not committed; undefined: the file is gone. */
  readonly changes: ReadonlyMap<string, string | undefined>;
}

function lookAt(checkout: Checkout): CheckoutLook {
  const { head, files } = checkout;
  return { head, changes: new Map(checkout.uncommitted().map((name) => [name, files.get(name)])) };
}

function differences(
  before: CheckoutLook,
  now: CheckoutLook,
  isOurs: (head: string | null) => boolean,
): CheckoutChange {
  const hasMoved = now.head !== before.head;
  const changed = [...now.changes].filter(
    ([name, text]) => !before.changes.has(name) || before.changes.get(name) !== text,
  );
  // What somebody commits is no longer different from HEAD.
  const settled = hasMoved ? [] : [...before.changes.keys()].filter((name) => !now.changes.has(name));
  return {
    head: hasMoved && !isOurs(now.head) ? now.head : null,
    paths: [...changed.map(([name]) => name), ...settled].toSorted(),
  };
}
