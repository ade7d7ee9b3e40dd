import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** A whole number of the query; more than the most is the most. */
export function numberIn(
  context: Context,
  name: string,
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = context.req.query(name);
  if (text === undefined || text === "") return otherwise;
  if (!/^-?\d{1,15}$/.test(text) || Number(text) < min)
    throw new Refusal(
      400,
      `${name} must be a whole number${min < 0 ? "" : ` from ${min} on`}, not "${text}"`,
    );
  return Math.min(max, Number(text));
}

/** Null when it is not there, or empty. */
export function textIn(context: Context, name: string): string | null {
  const text = context.req.query(name) ?? "";
  return text === "" ? null : text;
}

export function iterationIn(context: Context): number {
  const text = context.req.param("number") ?? "";
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Refusal(400, `"${text}" is not the number of an iteration`);
}

export class Refusal extends Error {
  readonly status: ContentfulStatusCode;
  readonly hint: string | null;

  constructor(status: ContentfulStatusCode, message: string, hint: string | null = null) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.hint = hint;
  }
}
