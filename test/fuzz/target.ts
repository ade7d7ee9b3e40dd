import type { Random } from "../../src/eval/random.ts";

/** Something that reads what others write. */
export interface Target {
  readonly name: string;
  /** An input; the same for the same chance. Small ones only, where time is short. */
  make(random: Random, isSmall: boolean): string;
  open(): Opened | Promise<Opened>;
}

export interface Opened {
  /** Throws when a promise is broken. A refusal is none: `isRefusal` knows them. */
  take(input: string): void | Promise<void>;
  close?(): void | Promise<void>;
}
