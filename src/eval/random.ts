/** A seeded source of chance: the same seed always gives the same world. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 0x9e3779b9) >>> 0;
  }

  /** The chance of one occasion, the same whatever else happened: a world can be compared with another. */
  static of(seed: number, ...occasion: readonly number[]): Random {
    const random = new Random(seed);
    for (const number of occasion) {
      const mixed = Math.imul(random.#state ^ number, 0x85ebca6b);
      random.#state = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
    }
    return random;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}

/** Around 0, with a deviation of 1. */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return radius * Math.cos(2 * Math.PI * random.next());
}
