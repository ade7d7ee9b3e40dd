import { gzipSync } from "node:zlib";
import type { OtlpTarget } from "./otlp-settings.ts";

export type Sent =
  | { readonly is: "taken" }
  /** The same would be refused again. */
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "failed"; readonly why: string };

/** One request of the protocol, in JSON. Resolves however it ends. */
export async function sendOtlp(target: OtlpTarget, body: object, signal: AbortSignal): Promise<Sent> {
  const text = JSON.stringify(body);
  try {
    const answer = await fetch(target.url, {
      method: "POST",
      headers: {
        ...target.headers,
        "content-type": "application/json",
        ...(target.isCompressed && { "content-encoding": "gzip" }),
      },
      body: target.isCompressed ? new Uint8Array(gzipSync(text)) : text,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(target.timeoutMs)]),
    });
    await answer.body?.cancel();
    if (answer.ok) return { is: "taken" };
    const isLater = [429, 502, 503, 504].includes(answer.status);
    return { is: isLater ? "failed" : "refused", why: `it answers ${answer.status}` };
  } catch (error) {
    return { is: "failed", why: whyOf(error) };
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string };
  return typeof code === "string" ? code : (message ?? error.message);
}
