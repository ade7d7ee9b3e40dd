import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { networkInterfaces, hostname } from "node:os";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { Refusal } from "./parameters.ts";

export interface AccessParts {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly mayAct: boolean;
  /** Each lets one browser in instead of the token: the list of processes may show it. */
  readonly invitations: Set<string>;
}

export const TOKEN_LENGTH_MIN = 16;

export function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Answers whoever came by the printed address, from this very page; refuses the others. */
export function guardAccess({ host, port, token, mayAct, invitations }: AccessParts): MiddlewareHandler {
  const isOwnHost = ownHosts(host, port);
  const cookie = `ralph_${port}`;
  // Not the token itself: that may hold any character, and browsers send cookies to other ports as well.
  const pass = createHmac("sha256", token).update(cookie).digest("base64url");
  return async (context, next) => {
    const named = context.req.header("host") ?? "";
    if (!isOwnHost(named)) throw new Refusal(421, `this is not ${named}`, "use the printed address");
    const { method } = context.req;
    if (method !== "GET" && method !== "POST") throw new Refusal(405, `${method} is not answered here`);
    const given = context.req.query("token");
    if (given !== undefined && method === "GET" && (invitations.delete(given) || isEqual(given, token))) {
      setCookie(context, cookie, pass, { httpOnly: true, sameSite: "Strict", path: "/" });
      return enter(context);
    }
    if (!isEqual(getCookie(context, cookie) ?? "", pass)) throw notByAddress();
    if (method === "POST") requireOwnPage(context, `http://${named}`, mayAct);
    else refuseOtherPages(context);
    return next();
  };
}

/** What the request names as its host must be us: a name that an attacker points here is not. */
function ownHosts(host: string, port: number): (named: string) => boolean {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const names = [
    ...(isLoopback(host) || isEverywhere ? ["127.0.0.1", "localhost", "::1"] : []),
    ...(isEverywhere ? [hostname(), ...addresses.map(({ address }) => address)] : [host]),
  ];
  const known = new Set(
    names.flatMap((name) => [hostInUrl(name, port), ...(port === 80 ? [bare(name)] : [])]),
  );
  return (named) => known.has(named.toLowerCase());
}

export function hostInUrl(host: string, port: number): string {
  return `${bare(host)}:${port}`;
}

function bare(host: string): string {
  return isIP(host) === 6 ? `[${host.toLowerCase()}]` : host.toLowerCase();
}

/** In constant time, whatever the lengths. */
function isEqual(given: string, known: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(known));
}

/** Goes on without the token; from another site by a page, since a redirect would not carry the cookie. */
function enter(context: Context): Response {
  const to = withoutToken(context);
  if (context.req.header("sec-fetch-site") !== "cross-site") return context.redirect(to, 303);
  // What a parsed address is made of has neither quotes nor angle brackets.
  return context.body(
    `<!doctype html><meta http-equiv="refresh" content="0; url=${to.replaceAll("&", "&amp;")}">`,
    200,
    { "Content-Type": "text/html; charset=utf-8" },
  );
}

/** Only a place of ours: two slashes would begin another host. */
function withoutToken(context: Context): string {
  const url = new URL(context.req.url);
  url.searchParams.delete("token");
  return `/${url.pathname.replace(/^[/\\]+/, "")}${url.search}`;
}

function notByAddress(): Refusal {
  return new Refusal(
    401,
    "this page is for whoever started it",
    "open the address that ralph web has printed",
  );
}

function requireOwnPage(context: Context, origin: string, mayAct: boolean): void {
  if (context.req.header("origin")?.toLowerCase() !== origin.toLowerCase())
    throw new Refusal(403, "this comes from another page", "act on the page itself");
  if (!mayAct)
    throw new Refusal(403, "this page is there to look only", "start ralph web without --read-only");
  const [type = ""] = (context.req.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json") throw new Refusal(415, "the body must be JSON");
}

/** Browsers say where a request comes from; what other pages of this machine embed is not answered. */
function refuseOtherPages(context: Context): void {
  const site = context.req.header("sec-fetch-site");
  const isApi = context.req.path.startsWith("/api/");
  if (isApi && (site === "cross-site" || site === "same-site"))
    throw new Refusal(403, "this comes from another page", "open the address that ralph web has printed");
}
