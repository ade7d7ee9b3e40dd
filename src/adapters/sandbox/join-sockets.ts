import type { Socket } from "node:net";

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
