import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { RalphError } from "../../core/errors.ts";

/** What the URL of a database says, in the terms of the driver. What it does not say, `PG…` variables may. */
export interface ConnectionSettings {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** False: none. `isOptional`: only if the server can. */
  readonly tls: { readonly options: ConnectionOptions; readonly isOptional: boolean } | false;
  /** HOST:PORT/NAME, for people. */
  readonly name: string;
}

/** Refuses a URL that cannot be one, without repeating it: a password may be in it. */
export function readUrl(text: string): ConnectionSettings {
  const url = parse(text);
  const hostOption = url.searchParams.get("host");
  const host = hostOption ?? decode(url.hostname.replace(/^\[(.+)\]$/, "$1"));
  const { port } = url;
  const database = decode(url.pathname.slice(1));
  const at = host.startsWith("/")
    ? host
    : `${host === "" ? "localhost" : host}:${port === "" ? "5432" : port}`;
  return {
    host: orNothing(host),
    port: port === "" ? undefined : Number(port),
    user: orNothing(decode(url.username)),
    password: orNothing(decode(url.password)),
    database: orNothing(database),
    tls: host.startsWith("/") ? false : tlsOf(url.searchParams),
    name: `${at}/${database}`,
  };
}

/** HOST:PORT/NAME: what may be shown of a URL. */
export function describeUrl(text: string): string {
  return readUrl(text).name;
}

function parse(text: string): URL {
  // A URL without a host is one for libpq: the socket is in `?host=`.
  if (/^[^/?#]*\/\/(?:[^/?#]*@)?[^/?#@]*,/.test(text)) throw unusable("names several hosts");
  const url = URL.parse(
    text.trim().replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=\/|\?|$)/, "$1localhost"),
  );
  if (url === null) throw unusable("is no URL");
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    throw unusable(`begins with ${url.protocol}`);
  return url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unusable("has a % that stands for nothing; write %25 for a % in a password");
  }
}

/** The meaning that libpq gives to `sslmode`, https://www.postgresql.org/docs/current/libpq-ssl.html. */
function tlsOf(options: URLSearchParams): ConnectionSettings["tls"] {
  const mode = options.get("sslmode") ?? process.env["PGSSLMODE"] ?? "prefer";
  const root = options.get("sslrootcert");
  const own = { ...fileAs("cert", options.get("sslcert")), ...fileAs("key", options.get("sslkey")) };
  const unverified = { ...own, rejectUnauthorized: false };
  const signed = { ...own, ...fileAs("ca", root === "system" ? null : root), rejectUnauthorized: true };
  switch (mode) {
    case "disable":
      return false;
    case "allow":
    case "prefer":
      return { options: unverified, isOptional: true };
    case "require":
      return { options: root === null ? unverified : anyName(signed), isOptional: false };
    case "verify-ca":
      return { options: anyName(signed), isOptional: false };
    case "verify-full":
      return { options: signed, isOptional: false };
    default:
      throw unusable(`has an unknown sslmode (${mode})`);
  }
}

function anyName(options: ConnectionOptions): ConnectionOptions {
  return { ...options, checkServerIdentity: () => undefined };
}

function fileAs(key: "ca" | "cert" | "key", file: string | null): { readonly [key: string]: string } {
  if (file === null) return {};
  try {
    return { [key]: readFileSync(file, "utf8") };
  } catch (cause) {
    throw new RalphError("config", `the file ${file}, which [queue] url names, cannot be read`, { cause });
  }
}

function orNothing(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function unusable(what: string): RalphError {
  return new RalphError("config", `[queue] url ${what}`, {
    hint: "write it as postgres://USER:PASSWORD@HOST:5432/DATABASE",
  });
}
