import { signal } from "@preact/signals";
import type { Instant } from "../../core/time.ts";

/** The server's time, to the second, for everything that counts up or down. */
export const now = signal<Instant>(Date.now());

let aheadMs = 0;

export function setServerTime(at: Instant): void {
  aheadMs = at - Date.now();
  now.value = at;
}

setInterval(() => {
  if (!document.hidden) now.value = Date.now() + aheadMs;
}, 1_000);
