import type { Api, PageAct } from "../api.ts";

export interface Problem {
  readonly message: string;
  readonly hint: string | null;
}

export type Answer<T> =
  { readonly is: "ok"; readonly value: T } | { readonly is: "problem"; readonly problem: Problem };

export async function get<T>(path: string, signal?: AbortSignal): Promise<Answer<T>> {
  return ask<T>(path, { headers: { accept: "application/json" }, ...(signal && { signal }) });
}

export async function act(what: PageAct): Promise<Answer<Api["POST /api/act"]>> {
  return post("/api/act", what);
}

/** Also while the page is being left. */
export async function post<T>(path: string, body: object): Promise<Answer<T>> {
  return ask(path, {
    method: "POST",
    keepalive: true,
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  });
}

export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | null>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== "") query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

async function ask<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok) return { is: "problem", problem: problemOf(response.status, body) };
    return { is: "ok", value: body as T };
  } catch {
    return {
      is: "problem",
      problem: { message: "The server does not answer.", hint: "Is ralph web still running?" },
    };
  }
}

function problemOf(status: number, body: unknown): Problem {
  const error = (body as { error?: { message?: unknown; hint?: unknown } } | null)?.error;
  const message = typeof error?.message === "string" ? error.message : `The server answered ${status}.`;
  const hint = typeof error?.hint === "string" ? error.hint : null;
  if (hint === null && (status === 401 || status === 403)) {
    return { message, hint: "Open the address that ralph web has printed." };
  }
  return { message, hint };
}
