import { isOpen } from "../../core/loop/state.ts";
import type { Journal } from "../journal.ts";
import { lookAround } from "../look-around.ts";
import type { Ports } from "../ports.ts";

/** The first look of a run. */
export async function observe(ports: Ports, journal: Journal): Promise<void> {
  if (!isOpen(journal.state.run)) return;
  await journal.record(...(await lookAround(ports, journal.state)));
}
