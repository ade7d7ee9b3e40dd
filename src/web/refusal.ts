import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Why a request is not answered, for the person who made it. */
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
