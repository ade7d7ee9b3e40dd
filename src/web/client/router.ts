import { computed, signal } from "@preact/signals";

export type Route =
  | { readonly page: "board" }
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly id: string }
  | { readonly page: "iteration"; readonly number: number }
  | { readonly page: "task"; readonly id: string }
  | { readonly page: "charts" }
  | { readonly page: "inbox" }
  | { readonly page: "missing"; readonly path: string };

const path = signal(location.pathname);
const query = signal(location.search);

export const route = computed((): Route => routeOf(path.value));
export const parameters = computed(() => new URLSearchParams(query.value));

export function navigate(to: string): void {
  history.pushState(null, "", to);
  readLocation();
  window.scrollTo(0, 0);
  document.querySelector<HTMLElement>("#main")?.focus({ preventScroll: true });
}

/** Changes parameters of this address, without a step in the history. */
export function setParameter(name: string, value: string): void {
  const next = new URLSearchParams(query.value);
  if (value === "") next.delete(name);
  else next.set(name, value);
  history.replaceState(null, "", next.size === 0 ? path.value : `${path.value}?${next}`);
  readLocation();
}

export function listenToLocation(): void {
  addEventListener("popstate", readLocation);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.origin !== location.origin || link.hash !== "" || link.target !== "") return;
    event.preventDefault();
    navigate(`${link.pathname}${link.search}`);
  });
}

function readLocation(): void {
  path.value = location.pathname;
  query.value = location.search;
}

function routeOf(at: string): Route {
  const [first = "", second, more] = at.split("/").slice(1);
  if (more !== undefined) return { page: "missing", path: at };
  if (second !== undefined && second !== "") {
    const id = first === "runs" || first === "tasks" ? decoded(second) : null;
    if (id !== null) return { page: first === "runs" ? "run" : "task", id };
    if (first === "iterations" && /^\d+$/.test(second)) return { page: "iteration", number: Number(second) };
    return { page: "missing", path: at };
  }
  switch (first) {
    case "":
      return { page: "board" };
    case "runs":
    case "charts":
    case "inbox":
      return { page: first };
    default:
      return { page: "missing", path: at };
  }
}

/** Null: no browser writes it so. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

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
