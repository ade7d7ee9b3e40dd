import { createHash } from "node:crypto";

/** A name of anything as one part of the name of a reference: the same on all machines, never two alike. */
export function encodeName(name: string): string {
  const encoded = Array.from(Buffer.from(name, "utf8"), encodeByte).join("");
  if (encoded.length <= LENGTH_MAX) return encoded;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  return `${encoded.slice(0, LENGTH_MAX - HASH_LENGTH - 2)}%%${hash}`;
}

/** With room for what git and file systems add to it. */
const LENGTH_MAX = 180;
const HASH_LENGTH = 32;

/** Upper case, too: a server may not tell it from lower case. */
function encodeByte(byte: number): string {
  const sign = String.fromCodePoint(byte);
  return /[a-z0-9_-]/.test(sign) ? sign : `%${byte.toString(16).padStart(2, "0")}`;
}
