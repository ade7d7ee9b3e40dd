import type { ReactNode } from "react";
import { Field } from "./dialog-view.tsx";
import { keyParts, said } from "./footer-view.tsx";
import { frameRows } from "./layout.ts";
import { Line, Panel, Title, type Part } from "./line.tsx";
import type { Model } from "./model.ts";
import { pagerHeight, type Pager } from "./pager.ts";

const KEYS = keyParts([
  ["↑↓", "scroll"],
  ["/", "search"],
  ["n N", "next, previous"],
  ["f", "follow"],
  ["g G", "begin, end"],
  ["q", "back"],
]);

/** What the agent printed. */
export function PagerView({ model, pager }: { readonly model: Model; readonly pager: Pager }): ReactNode {
  const height = pagerHeight(model.size.rows);
  const shown = pager.rows.slice(pager.top, pager.top + height);
  return (
    <Panel rows={frameRows(model.size)}>
      <Title name={`${pager.task} · iteration ${pager.iteration} · ${place(pager, height)}`} />
      <Panel rows={height}>
        {pager.size === 0 && <Line parts={[{ text: "  Nothing is printed yet.", look: "dim" }]} />}
        {pager.size > 0 &&
          shown.map(({ text }, index) => <Line key={index} parts={highlighted(text, pager.query)} />)}
      </Panel>
      {pager.search === null ? (
        <Line parts={model.says === null ? KEYS : said(model)} />
      ) : (
        <Field field={pager.search} mark="/" />
      )}
    </Panel>
  );
}

function place({ rows, top, to, size, follows }: Pager, height: number): string {
  if (size < 0) return "…";
  if (follows) return "follows the end";
  if (to >= size && top + height >= rows.length) return "end";
  const at = rows[top]?.at ?? 0;
  return `${Math.floor((at / Math.max(1, size)) * 100)} %`;
}

function highlighted(text: string, query: string): readonly Part[] {
  if (query === "") return [text === "" ? " " : text];
  const parts: Part[] = [];
  const wanted = query.toLowerCase();
  const lower = text.toLowerCase();
  // Where lower case has another length, places would not fit.
  if (lower.length !== text.length) return [text];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), { text: text.slice(at, at + wanted.length), look: "selected" });
    from = at + wanted.length;
  }
  return [...parts, text.slice(from), " "];
}
