import { signal } from "@preact/signals";
import { navigate } from "./router.ts";

export const isHelpOpen = signal(false);

const PLACES: Readonly<Record<string, string>> = { b: "/", r: "/runs", c: "/charts", i: "/inbox" };
const CHORD_MS = 1_500;

/** `g b` and the like, `?` and `/`; not while somebody types. */
export function listenToKeys(): void {
  let goSince = Number.NEGATIVE_INFINITY;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const isSecond = performance.now() - goSince < CHORD_MS;
    goSince = Number.NEGATIVE_INFINITY;
    const place = PLACES[event.key];
    if (isSecond && place !== undefined) {
      event.preventDefault();
      navigate(place);
    } else if (event.key === "g") {
      goSince = performance.now();
    } else if (event.key === "?") {
      event.preventDefault();
      isHelpOpen.value = true;
    } else if (event.key === "/") {
      const search = document.querySelector<HTMLElement>("[data-search]");
      if (search === null) return;
      event.preventDefault();
      search.focus();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
