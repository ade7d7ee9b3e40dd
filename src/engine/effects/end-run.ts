import { decide } from "../../core/loop/decide.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { isOpen } from "../../core/loop/state.ts";
import type { Journal } from "../journal.ts";
import { lookAround } from "../look-around.ts";
import type { Ports } from "../ports.ts";

/** Ends the run, unless a last look shows that a person has given us something to do. */
export async function endRun(_effect: EffectOf<"end-run">, ports: Ports, journal: Journal): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const ending = decide(state, ports.clock.now()).effects.find((wanted) => wanted.kind === "end-run");
    if (!isOpen(state.run) || ending === undefined) return null;
    return [{ type: "run.ended", run: state.run.id, outcome: ending.outcome, reason: ending.reason }];
  });
}
