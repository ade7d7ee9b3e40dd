import type { PayloadFormat } from "../core/views/notice.ts";
import { passwordsIn } from "../core/redact.ts";

export const WEBHOOK_VARIABLE = "RALPH_NOTIFY_WEBHOOK";

/** Shorter parts of an address are words. */
const TOKEN_LENGTH_MIN = 16;

/** What in an address lets anybody write there: the whole of it, and the parts that look like a token. */
export function webhookSecrets(url: string): readonly string[] {
  if (url === "") return [];
  const tokens = URL.canParse(url) ? tokensIn(new URL(url)) : [];
  return [...new Set([url, ...passwordsIn(url), ...tokens])];
}

function tokensIn({ pathname, searchParams, username }: URL): readonly string[] {
  const parts = [...pathname.split("/"), ...searchParams.values(), username];
  return parts.filter((part) => part.length >= TOKEN_LENGTH_MIN);
}

/** As much of an address as anybody may see. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return "[redacted]";
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}/…`;
}

/** Of the known services, by the host of the address. */
export function formatOf(url: string): PayloadFormat {
  const { hostname, pathname } = new URL(url);
  if (hostname === "hooks.slack.com" || hostname === "hooks.slack-gov.com") return "slack";
  const isDiscord = /(?:^|\.)discord(?:app)?\.com$/.test(hostname) && pathname.startsWith("/api/webhooks/");
  return isDiscord ? "discord" : "json";
}
