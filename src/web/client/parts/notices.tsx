import type { ComponentChildren } from "preact";
import type { Problem } from "../api-client.ts";
import { sentence } from "../format.ts";

/** What the server could not do, where it was asked for. */
export function Trouble({ problem }: { readonly problem: Problem }) {
  return (
    <p class="trouble" role="alert">
      <span aria-hidden="true">! </span>
      {sentence(problem.message)} {problem.hint !== null && sentence(problem.hint)}
    </p>
  );
}

export function Empty({
  title,
  command,
  children,
}: {
  readonly title: string;
  readonly command?: string | null;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {command != null && (
        <p>
          Next: <code>{command}</code>
        </p>
      )}
    </div>
  );
}

export function Loading() {
  return <p class="loading">Loading…</p>;
}
