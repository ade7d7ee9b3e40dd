import type { Lease } from "../../src/engine/fleet-ports.ts";
import type { Crew, Machine } from "./worker-truth.ts";
import type { World } from "./world.ts";

/** Asked at the moment at which a push arrives: whoever was taken over pushes nothing any more. */
export function checkPush(
  world: World,
  { fence }: Crew,
  { id }: Machine,
  { name, number }: Pick<Lease, "name" | "number">,
): void {
  const last = fence.get(name) ?? 0;
  if (last > number)
    world.violate(`${id} pushed ${name} by lease ${number}, and another one has lease ${last}`);
}
