import { z } from "zod";

export const count = z.number().int().min(0);
export const countTo = (most: number): typeof count =>
  count
    .refine((value) => value <= most, {
      error: ({ input }) => `expected a whole number from 0 to ${most}, got ${String(input)}`,
    })
    .meta({ maximum: most });
