import { computed, signal } from "@preact/signals";

export type Route =
  | { readonly page: "board" }
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly id: string }
  | { readonly page: "iteration"; readonly number: number }
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
    const id = first === "runs" ? decoded(second) : null;
    if (id !== null) return { page: "run", id };
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
