import { createHash } from "node:crypto";
import type { Checkout } from "./checkout.ts";
import { lookAtCheckout } from "./look-at-checkout.ts";

/** Another text when anything in the work tree has changed. */
export async function fingerprint(checkout: Checkout): Promise<string> {
  const { head, branch, paths } = await lookAtCheckout(checkout);
  const hash = createHash("sha256").update(`${head} ${branch}\0`);
  for (const [bytes, look] of paths) hash.update(`${bytes}\0${look}\0`);
  return hash.digest("hex");
}
