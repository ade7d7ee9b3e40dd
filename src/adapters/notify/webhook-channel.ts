import { createHmac } from "node:crypto";
import { type Notice, payload, type Sending } from "../../core/views/notice.ts";
import type { WebhookSettings } from "../../core/settings.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { Channel, Delivery } from "../../engine/ports.ts";

const ANSWER_MS = 10 * SECOND_MS;

export interface WebhookOptions extends WebhookSettings {
  readonly version: string;
  readonly sending: () => Sending;
}

/** Posts each notice to an address. What it says about a failure never names more of that than the host. */
export function webhookChannel(options: WebhookOptions): Channel {
  const url = new URL(options.url);
  // A request refuses addresses with a name and a password in them; in its header these are what was meant.
  const credentials = basicCredentials(url);
  return {
    name: "webhook",
    shown: `${url.protocol}//${url.host}`,
    async send(notice, signal) {
      const body = payload(options.format, notice, options.sending());
      try {
        const answer = await fetch(url, {
          method: "POST",
          headers: { ...headersFor(notice, body, options), ...credentials },
          body,
          // An address that is no secret must not get what was meant for one that is.
          redirect: "manual",
          signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
        });
        await answer.body?.cancel();
        return deliveryOf(answer);
      } catch (error) {
        const why = whyOf(error);
        // The web's own standard forbids some ports, today and tomorrow.
        if (why === "bad port") return { is: "refused", why: `no web request may go to port ${url.port}` };
        return { is: "failed", why, retryAfterMs: null };
      }
    },
  };
}

function headersFor(
  notice: Notice,
  body: string,
  { secret, version }: WebhookOptions,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": `ralph/${version}`,
    "x-ralph-notice": notice.id,
    ...(secret !== null && { "x-ralph-signature": signatureOf(body, secret) }),
  };
}

/** The body has the time at which it was sent, so the signature covers that too. */
export function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

function deliveryOf(answer: Response): Delivery {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return { is: "delivered" };
  const why = `it answers ${status}`;
  if (status >= 300 && status < 400)
    return { is: "refused", why: `${why}, which leads elsewhere; name the final address` };
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return { is: "failed", why, retryAfterMs: retryAfterMs(headers.get("retry-after"), Date.now()) };
  return { is: "refused", why };
}

/** Seconds, or a date. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}(?:\.\d+)?$/.test(header.trim())) return Number(header) * SECOND_MS;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${ANSWER_MS / SECOND_MS} s`;
  if (error.name === "AbortError") return "nobody waits any longer";
  // "fetch failed" says nothing; its cause does.
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string };
  return code ?? message ?? error.message;
}

function basicCredentials(url: URL): { readonly authorization?: string } {
  if (url.username === "" && url.password === "") return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}
