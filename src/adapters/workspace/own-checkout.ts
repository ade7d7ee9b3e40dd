import { relative, join } from "node:path";
import { createHash } from "node:crypto";
import { PATHS_KEPT } from "../../core/report/evidence.ts";
import type { CheckoutChange, OwnCheckout } from "../../engine/parallel-ports.ts";
import { textOf } from "../git/git.ts";
import { inTurn } from "../system/in-turn.ts";
import { ownOutput } from "../system/process-table.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import type { Snapshot } from "../../engine/ports.ts";
import { readHead } from "../git/read-head.ts";
import { lookOf } from "./read-leftovers.ts";
import { readStatus } from "./read-status.ts";
import { whosePath } from "./whose-path.ts";

/** What changes it, and looks at it, does so under this key, one after the other. */
export function checkoutKey(root: string): string {
  return `checkout ${root}`;
}

export function createOwnCheckout({ root, ralphDir }: Pick<Checkout, "root" | "ralphDir">): OwnCheckout {
  let opening: Promise<Checkout> | null = null;
  let waiting: Promise<CheckoutLook> | null = null;
  let toldHead: string | null = null;
  // A log of the run, say, that grows and grows.
  const toldPaths = new Set(ownOutput().map((path) => relative(root, path)));
  // Many lanes begin and end together: whoever asks before a look begins gets the same.
  const look = (): Promise<CheckoutLook> => {
    waiting ??= inTurn(checkoutKey(root), async () => {
      waiting = null;
      return lookAtCheckout(await (opening ??= openCheckout(root, ralphDir)));
    });
    return waiting;
  };
  return {
    async watch() {
      const before = await look();
      return async (isOurs) => {
        const { head, paths } = differences(before, await look(), isOurs);
        const news = {
          head: head === toldHead ? null : head,
          paths: paths.filter((path) => !toldPaths.has(path)).slice(0, PATHS_KEPT),
        };
        toldHead = head ?? toldHead;
        for (const path of news.paths) toldPaths.add(path);
        return news.head === null && news.paths.length === 0 ? null : news;
      };
    },
  };
}

function differences(
  before: CheckoutLook,
  now: CheckoutLook,
  isOurs: (head: string | null) => boolean,
): CheckoutChange {
  const hasMoved = now.head !== before.head || now.branch !== before.branch;
  const changed = [...now.paths].filter(([path, look]) => before.paths.get(path) !== look);
  // What somebody commits is no longer different from HEAD.
  const settled = hasMoved ? [] : [...before.paths.keys()].filter((path) => !now.paths.has(path));
  return {
    head: hasMoved && !isOurs(now.head) ? now.head : null,
    paths: [...changed.map(([path]) => path), ...settled].map(textOf).toSorted(),
  };
}

/** Another text when anything in the work tree has changed. */
export async function fingerprint(checkout: Checkout): Promise<string> {
  const { head, branch, paths } = await lookAtCheckout(checkout);
  const hash = createHash("sha256").update(`${head} ${branch}\0`);
  for (const [bytes, look] of paths) hash.update(`${bytes}\0${look}\0`);
  return hash.digest("hex");
}

/** Where HEAD is, and what every path that differs from it looks like; our own files change all the time. */
interface CheckoutLook extends Snapshot {
  readonly paths: ReadonlyMap<string, string>;
}

/** Takes no lock. */
async function lookAtCheckout(checkout: Checkout): Promise<CheckoutLook> {
  const head = await readHead(checkout, checkout.git);
  const whose = whosePath(checkout.ralphPrefix, []);
  const entries = (await readStatus(checkout)).filter(({ path }) => whose(path) !== "ours");
  const look = (path: string): string => lookOf(join(checkout.root, path));
  return {
    ...head,
    paths: new Map(entries.map(({ path, bytes, staged }) => [bytes, `${staged} ${look(path)}`])),
  };
}
