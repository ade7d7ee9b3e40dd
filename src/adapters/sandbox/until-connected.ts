import { once } from "node:events";
import type { Socket } from "node:net";

/** The socket when it is connected. One for which nobody waits any more is gone, and no failure of it is ours. */
export async function untilConnected(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<Socket> {
  socket.on("error", () => {});
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
