import { RalphError } from "../../src/core/errors.ts";
import type { Log } from "../../src/engine/ports.ts";
import type { Life } from "./crashing.ts";
import { forwarding } from "./mutant-log.ts";
import { Random } from "../../src/eval/random.ts";
import type { VirtualTime } from "../../src/eval/virtual-time.ts";

/** What goes wrong around a run that is nobody's doing: it comes and goes by itself, whatever the run does. */
export interface Weather {
  /** A gate that would pass fails this time. */
  flakes(): boolean;
  /** Before anything is recorded: it may take long, or be refused. */
  beforeAppend(): Promise<void>;
  /** When the disk has room again. */
  readonly roomAt: number;
}

export const CALM: Weather = { flakes: () => false, beforeAppend: () => Promise.resolve(), roomAt: 0 };

const WITHIN_MS = 240_000;
const BUSY_MS_MAX = 20_000;
const JUMP_MS_MAX = 7_200_000;

/** Every other world has some; the others are what they were without it. */
export function weatherFor(seed: number, time: VirtualTime): Weather {
  const random = new Random(seed + 104_729);
  if (random.chance(0.5)) return CALM;
  const flaky = random.chance(0.4) ? 0.15 : 0;
  const busy = random.chance(0.4) ? 0.02 : 0;
  if (random.chance(0.4)) scheduleJumps(random, time);
  const full = random.chance(0.4) ? fullDisk(random, time.now()) : null;
  return {
    flakes: () => random.chance(flaky),
    async beforeAppend() {
      if (random.chance(busy)) await time.sleep(random.between(1_000, BUSY_MS_MAX));
      const elapsed = time.elapsed();
      if (full !== null && elapsed >= full.from && elapsed < full.to)
        throw new RalphError("disk-full", "the disk is full; nothing was recorded");
    },
    roomAt: full?.to ?? 0,
  };
}

/** Whoever dies while the database is busy records nothing any more. */
export function logInWeather(log: Log, weather: Weather, life: Life): Log {
  const append: Log["append"] = async (...what) => {
    await life.wait(() => weather.beforeAppend());
    return log.append(...what);
  };
  return forwarding(log, { append });
}

function fullDisk(random: Random, now: number): { readonly from: number; readonly to: number } {
  const from = now + random.between(0, WITHIN_MS);
  return { from, to: from + random.between(1_000, 60_000) };
}

/** Somebody sets the clock, or the machine slept and finds the right time again. */
function scheduleJumps(random: Random, time: VirtualTime): void {
  for (let jumps = random.between(1, 3); jumps > 0; jumps -= 1) {
    const by = random.between(-JUMP_MS_MAX, JUMP_MS_MAX);
    time.at(time.now() + random.between(0, WITHIN_MS), () => time.jump(by));
  }
}
