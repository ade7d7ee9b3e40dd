import { join } from "node:path";
import type { Snapshot } from "../../engine/ports.ts";
import { readHead } from "../git/read-head.ts";
import type { Checkout } from "./checkout.ts";
import { lookOf } from "./known-leftovers.ts";
import { readStatus } from "./read-status.ts";
import { whosePath } from "./whose-path.ts";

/** Where HEAD is, and what every path that differs from it looks like; our own files change all the time. */
export interface CheckoutLook extends Snapshot {
  readonly paths: ReadonlyMap<string, string>;
}

/** Takes no lock. */
export async function lookAtCheckout(checkout: Checkout): Promise<CheckoutLook> {
  const head = await readHead(checkout, checkout.git);
  const whose = whosePath(checkout.ralphPrefix, []);
  const entries = (await readStatus(checkout)).filter(({ path }) => whose(path) !== "ours");
  const look = (path: string): string => lookOf(join(checkout.root, path));
  return {
    ...head,
    paths: new Map(entries.map(({ path, bytes, staged }) => [bytes, `${staged} ${look(path)}`])),
  };
}
