/** An event of any version: only its type is known. */
export type StoredEvent = Readonly<Record<string, unknown>> & { readonly type: string };

export function tableOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
