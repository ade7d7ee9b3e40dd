import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutCredentials } from "./without-credentials.ts";

/**
 * What a repository is known by on every machine, however each of them gets to it: `github.com/owner/name`. A path on a
 * disk is known by where it really is; relative ones are meant from `root`.
 */
export function remoteKey(url: string, root: string): string {
  const helper = /^([a-z0-9+-]+)::(.*)$/is.exec(url);
  if (helper !== null) return `${helper[1]}::${withoutCredentials(helper[2] ?? "")}`;
  if (/^file:\/\//i.test(url)) return diskKey(pathOfFileUrl(url), root);
  const place = placeOf(url);
  return place === null ? diskKey(url, root) : hostKey(place);
}

interface Place {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

/** Null for what git takes for a path on this machine. */
function placeOf(url: string): Place | null {
  const full = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?(\[[^\]]*\]|[^/:]*)(?::(\d*))?(?:\/(.*))?$/is.exec(url);
  if (full !== null)
    return {
      host: full[1] ?? "",
      port: full[2] ?? "",
      path: decoded(full[3]?.replace(/[?#].*$/s, "") ?? ""),
    };
  // A colon before the first slash: git reads `host:path`, also with the port in brackets.
  const bare = url.replace(/^\[[^\]/]*@/, "[");
  const short = /^(?:[^/@]*@)?(\[[^\]]*\]|[^/:]+):(.*)$/s.exec(bare);
  if (short === null) return null;
  const [host = "", port = ""] = splitPort((short[1] ?? "").replace(/^\[([^[\]:]+(?::\d+)?)\]$/, "$1"));
  return { host, port, path: short[2] ?? "" };
}

function splitPort(host: string): readonly string[] {
  return host.startsWith("[") ? [host] : host.split(":");
}

/** Where names are read without regard to case, so they are in its keys. */
const FOLDING = new Set(["github.com", "gitlab.com", "bitbucket.org"]);
/** Doors of their own for networks that let only some ports through. */
const DOORS: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};
const IS_THIS_MACHINE = /^(localhost|127\.[\d.]+|\[::1\])$/;

function hostKey({ host, port, path }: Place): string {
  const lower = host.toLowerCase();
  const name = DOORS[lower] ?? lower;
  // A port says how to get in; the same names behind two doors are the same, unless every port is a server of its own.
  const door = IS_THIS_MACHINE.test(name) && port !== "" ? `:${port}` : "";
  const parts = path.split("/").filter((part) => part !== "");
  const plain = parts.join("/").replace(/\.git$/, "");
  return `${name}${door}/${FOLDING.has(name) ? plain.toLowerCase() : plain}`;
}

function diskKey(path: string, root: string): string {
  const written = resolve(root, path);
  // In this order git looks for it.
  const found = [`${written}/.git`, written, `${written}.git`].find((candidate) => existsSync(candidate));
  const real = found === undefined ? written : realpathSync(found);
  return `file:${real.replace(/\/\.git$/, "").replace(/(?<=[^/])\.git$/, "")}`;
}

function pathOfFileUrl(url: string): string {
  try {
    return fileURLToPath(url.replace(/^file:\/\/[^/]*/i, "file://"));
  } catch {
    return url.replace(/^file:\/\/[^/]*/i, "");
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // git takes it as it is, too
  }
}
