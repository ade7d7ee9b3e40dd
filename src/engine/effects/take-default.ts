import type { EffectOf } from "../../core/loop/effects.ts";
import { defaultAnswer } from "../../core/loop/question-deadlines.ts";
import type { Journal } from "../journal.ts";
import { lookAround } from "../look-around.ts";
import type { Ports } from "../ports.ts";

/** Answers a question with its default, unless a last look shows that a person has answered. */
export async function takeDefault(
  effect: EffectOf<"take-default">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const answered = defaultAnswer(state, effect.task, ports.clock.now());
    return answered && [answered];
  });
}
