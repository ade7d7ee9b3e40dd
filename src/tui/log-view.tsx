import type { ReactNode } from "react";
import { clockTime } from "./clock-time.ts";
import { Line, Panel, Title } from "./line.tsx";
import type { Model } from "./model.ts";

/** The last things that happened, in words. */
export function LogView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { tail } = model.overview;
  const end = tail.length - Math.min(model.logBack, Math.max(0, tail.length - 1));
  const shown = tail.slice(Math.max(0, end - (rows - 1)), end);
  const below = tail.length - end;
  return (
    <Panel rows={rows}>
      <Title name={below === 0 ? "Log" : `Log · ${below} more below`} isFocused={model.panel === "log"} />
      {shown.length === 0 && <Line parts={[{ text: "  Nothing has happened yet.", look: "dim" }]} />}
      {shown.map(({ at, text, position }, index) => (
        <Line key={`${position}.${index}`} parts={[{ text: `${clockTime(at)} `, look: "dim" }, text]} />
      ))}
    </Panel>
  );
}
