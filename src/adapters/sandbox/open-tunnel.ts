import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import { basename, dirname } from "node:path";

const HEAD_MAX = 16_384;

/**
 * Asks the proxy at the other end for a way to `target`. Answers what it says: 200 when the socket leads there from
 * now on. Rejects when it is gone before it has answered.
 */
export function openTunnel(
  socket: Socket,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const lines = Object.entries({ Host: target, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`CONNECT ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
  return new Promise((resolve, reject) => {
    let said = Buffer.alloc(0);
    const onGone = (): void => reject(new Error("it went away without an answer"));
    const onData = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk]);
      const end = said.indexOf("\r\n\r\n");
      if (end === -1 && said.length < HEAD_MAX) return;
      socket.off("data", onData).off("error", reject).off("close", onGone).off("end", onGone).pause();
      const rest = said.subarray(end + 4);
      if (end !== -1 && rest.length > 0) socket.unshift(rest);
      const [, status = "502"] = /^HTTP\/1\.[01] (\d{3})/.exec(said.toString("latin1", 0, 16)) ?? [];
      resolve(end === -1 ? 502 : Number(status));
    };
    socket.on("data", onData).once("error", reject).once("close", onGone).once("end", onGone);
  });
}

/** Carries what comes from each to the other, until both have said their last. */
export function joinSockets(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
}

/** When one of two is gone, nobody needs the other, once it has been given all that was meant for it. */
export function tieSockets(one: Socket, other: Socket): void {
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
  one.on("close", () => other.destroySoon());
  other.on("close", () => one.destroySoon());
}

/** The kernel's limit. */
const PATH_MAX = 107;

/** A socket by a path that is short enough: where its own is not, through the open folder in which it lies. */
export function socketPath(socket: string): { readonly path: string; readonly letGo: () => void } {
  if (Buffer.byteLength(socket) <= PATH_MAX) return { path: socket, letGo: () => {} };
  const folder = openSync(dirname(socket), "r");
  return { path: `/proc/self/fd/${folder}/${basename(socket)}`, letGo: () => closeSync(folder) };
}
