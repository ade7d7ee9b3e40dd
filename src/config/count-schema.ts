import { z } from "zod";

/** So many tasks may be worked on at a time. */
export const LANES_MAX = 100;

export const count = z.number().int().min(0);
export const countTo = (most: number): typeof count => countFrom(0, most);

export const countFrom = (least: number, most: number): typeof count =>
  count
    .refine((value) => value >= least && value <= most, {
      error: ({ input }) => `expected a whole number from ${least} to ${most}, got ${String(input)}`,
    })
    .meta({ minimum: least, maximum: most });
