/** Something of ours beside a floor that was measured in the same run: machines are noisy, ratios less so. */
export interface Figure {
  readonly name: string;
  readonly unit: "ms" | "MB";
  /** What the floor is: the same done bare, or ours with less of what must not matter. */
  readonly floorIs: string;
  readonly floor: number;
  readonly ours: number;
  /** Half of the rounds had a ratio within this part of the usual one. */
  readonly spread: number;
  readonly target?: Target;
}

export interface Target {
  readonly of: "ratio" | "difference" | "ours";
  readonly atMost: number;
}

export interface Benchmark {
  readonly about: string;
  readonly measure: () => Promise<readonly Figure[]>;
}

/** Values of each round, ours and the floor's. */
export interface Rounds {
  readonly ours: readonly (readonly number[])[];
  readonly floor: readonly (readonly number[])[];
}

/** What all rounds together came to. */
export function figureOf(
  about: Pick<Figure, "name" | "floorIs"> & { readonly unit?: Figure["unit"]; readonly target?: Target },
  { ours, floor }: Rounds,
): Figure {
  const ratios = ours.map((values, round) => middle(values) / middle(floor[round] ?? []));
  const usual = median(ratios);
  const off = median(ratios.map((ratio) => Math.abs(ratio / usual - 1)));
  return { unit: "ms", ...about, floor: middle(floor.flat()), ours: middle(ours.flat()), spread: off };
}

export function ratioOf({ ours, floor }: Pick<Figure, "ours" | "floor">): number {
  return ours / floor;
}

/** Whether it is where we want it; null where nobody said where that is. */
export function meetsTarget(figure: Figure): boolean | null {
  if (figure.target === undefined) return null;
  const { of, atMost } = figure.target;
  const value = { ratio: ratioOf(figure), difference: figure.ours - figure.floor, ours: figure.ours }[of];
  return value <= atMost;
}

export function targetInWords({ target, unit }: Figure): string {
  if (target === undefined) return "";
  const { of, atMost } = target;
  if (of === "ratio") return `≤ ${atMost} ×`;
  return of === "difference" ? `≤ floor + ${atMost} ${unit}` : `≤ ${atMost} ${unit}`;
}

/** The middle one: outliers are the machine's business. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The mean of the middle half: as steady as the median, and finer than the clock. */
export function middle(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const half = values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
  return half.reduce((sum, value) => sum + value, 0) / half.length;
}
