import type { OpenedCheckout } from "../../src/engine/parallel-ports.ts";
import type { LaneTruth } from "./lane-truth.ts";
import type { World } from "./world.ts";

/** Makes a checkout ready once; it may fail as often as the world says. */
export async function setUpCheckout(
  { random }: World,
  lanes: LaneTruth,
  root: string,
  signal?: AbortSignal,
): Promise<OpenedCheckout> {
  if (lanes.setUp.has(root)) return { is: "ready", root, copied: [] };
  if (signal?.aborted) return { is: "failed", root, why: "stopped" };
  const fails = lanes.setupFailures > 0 && random.chance(0.3);
  if (fails) lanes.setupFailures -= 1;
  if (fails) return { is: "failed", root, why: "npm ci" };
  lanes.setUp.add(root);
  return { is: "ready", root, copied: [] };
}
