import { VerdictMark } from "./notices.tsx";
import { useId } from "preact/hooks";
import type { FactsPanel as Facts } from "../../api.ts";

/** Labelled sentences, some of them with the mark of a verdict. */
export function FactsPanel({ panel: { title, note, items } }: { readonly panel: Facts }) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {note !== null && <p class="muted">{note}</p>}
      <dl class="labelled">
        {items.map(({ label, look, texts }) => (
          <div key={label}>
            <dt class="muted">{look === null ? label : <VerdictMark verdict={look} label={label} />}</dt>
            {texts.map((text) => (
              <dd key={text}>{text}</dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}
