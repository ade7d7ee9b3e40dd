import { relative, join } from "node:path";
import { createHash } from "node:crypto";
import { PATHS_KEPT } from "../../../core/verdict/evidence.ts";
import type { OwnCheckout } from "../../../engine/parallel-ports.ts";
import { textOf } from "../git.ts";
import { inTurn } from "../../process/system-clock.ts";
import { ownOutput } from "../../process/process-table.ts";
import { openCheckout, readStatus, type Checkout, whosePath, withRealPaths } from "./checkout.ts";
import type { Snapshot } from "../../../engine/ports.ts";
import { readHead } from "../read-head.ts";
import { lookOf } from "./read-leftovers.ts";

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
        const now = await look();
        const hasMoved = isElsewhere(before, now);
        const head = hasMoved && !isOurs(now.head) && now.head !== toldHead ? now.head : null;
        const paths = differingPaths(before, now)
          // What somebody commits is no longer different from HEAD.
          .filter((path) => !hasMoved || now.paths.has(path))
          .map(textOf)
          .filter((path) => !toldPaths.has(path));
        const told = paths.toSorted().slice(0, PATHS_KEPT);
        toldHead = head ?? toldHead;
        for (const path of told) toldPaths.add(path);
        return head === null && told.length === 0 ? null : { head, paths: told };
      };
    },
  };
}

/** Another text when anything in the work tree has changed. */
export async function fingerprint(checkout: Checkout): Promise<string> {
  const { head, branch, paths } = await lookAtCheckout(checkout);
  const hash = createHash("sha256").update(`${head} ${branch}\0`);
  for (const [bytes, look] of paths) hash.update(`${bytes}\0${look}\0`);
  return hash.digest("hex");
}

/** Where HEAD is, and what every path that differs from it looks like. */
interface CheckoutLook extends Snapshot {
  readonly paths: ReadonlyMap<string, string>;
}

/** Takes no lock. Our own files change all the time, so they are left out; so are files half written. */
async function lookAtCheckout(
  checkout: Checkout,
  ralphPrefix: string | null = checkout.ralphPrefix,
): Promise<CheckoutLook> {
  const [head, entries] = await Promise.all([readHead(checkout, checkout.git), readStatus(checkout)]);
  const whose = whosePath(ralphPrefix, []);
  const looks = entries
    .filter(({ path }) => whose(path) !== "ours")
    .map(({ path, bytes, staged }) => [bytes, `${staged} ${lookOf(join(checkout.root, path))}`] as const);
  return { ...head, paths: new Map(looks) };
}

function differingPaths(before: CheckoutLook, now: CheckoutLook): readonly string[] {
  const known = [...new Set([...before.paths.keys(), ...now.paths.keys()])];
  return known.filter((path) => before.paths.get(path) !== now.paths.get(path));
}

function isElsewhere(before: CheckoutLook, now: CheckoutLook): boolean {
  return now.head !== before.head || now.branch !== before.branch;
}

export interface TreeChanges {
  /** Relative to the root; what git ignores is left out. */
  readonly paths: readonly string[];
  /** Where HEAD was, if it is elsewhere now. */
  readonly headWas: Snapshot | null;
}

/**
 * Remembers the work tree as it is, uncommitted work included; the answer tells what has changed since. It changes
 * nothing. The paths to leave out are relative to the root.
 */
export async function watchTree(
  { root, ralphDir }: { readonly root: string; readonly ralphDir: string },
  leaveOut: readonly string[],
): Promise<() => Promise<TreeChanges>> {
  const checkout = await openCheckout(root, ralphDir);
  const before = await lookAtCheckout(checkout, null);
  return async () => {
    const now = await lookAtCheckout(checkout, null);
    // A file that was put back may be a link's target; both names are meant.
    const left = new Set(withRealPaths(checkout.root, leaveOut));
    const paths = differingPaths(before, now)
      .map(textOf)
      .filter((path) => !left.has(path));
    const { head, branch } = before;
    return { paths: paths.toSorted(), headWas: isElsewhere(before, now) ? { head, branch } : null };
  };
}
