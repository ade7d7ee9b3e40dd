import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Checkout } from "./checkout.ts";
import { lookOf } from "./known-leftovers.ts";
import { readHead } from "../git/read-head.ts";
import { readStatus } from "./read-status.ts";
import { whosePath } from "./whose-path.ts";

/** Where HEAD is, and what every path that differs from it looks like; our own files change all the time. */
export async function fingerprint(checkout: Checkout): Promise<string> {
  const { head, branch } = await readHead(checkout, checkout.git);
  const whose = whosePath(checkout.ralphPrefix, []);
  const hash = createHash("sha256").update(`${head} ${branch}\0`);
  for (const { path, bytes, staged } of await readStatus(checkout.git)) {
    if (whose(path) === "ours") continue;
    hash.update(`${bytes}\0${staged} ${lookOf(join(checkout.root, path))}\0`);
  }
  return hash.digest("hex");
}
