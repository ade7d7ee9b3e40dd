import type { ReactNode } from "react";
import type { InboxItem } from "../core/projections/inbox.ts";
import { choiceInWords } from "../core/projections/open-questions.ts";
import type { Instant } from "../core/time.ts";
import { Line, Panel, Title, type Part } from "./line.tsx";
import type { Model } from "./model.ts";
import { selectedItem, windowAround } from "./selection.ts";

/** What waits for a person. */
export function InboxView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { inbox } = model.overview.status;
  const selected = selectedItem(model);
  const isFocused = model.panel === "inbox";
  const at = inbox.findIndex(({ task }) => task === selected?.task);
  const { from, to } = windowAround(inbox.length, Math.max(at, 0), rows - 1);
  const more = inbox.length > to - from ? ` · ${inbox.length - (to - from)} more` : "";
  const name = `Inbox: ${inbox.length} ${inbox.length === 1 ? "waits" : "wait"} for you${more}`;
  return (
    <Panel rows={rows}>
      <Title name={name} isFocused={isFocused} look="ask" />
      {inbox.slice(from, to).map((item) => (
        <Line key={item.task} parts={itemParts(item, isFocused && item === selected, model.overview.now)} />
      ))}
    </Panel>
  );
}

function itemParts(item: InboxItem, isSelected: boolean, now: Instant): readonly Part[] {
  const choice = choiceOf(item, now);
  return [
    isSelected ? { text: "›", look: "selected" } : " ",
    item.kind === "decide" ? { text: "? ", look: "ask" } : { text: "■ ", look: "bad" },
    { text: item.task, look: isSelected ? "selected" : "bold" },
    `  ${item.text}`,
    { text: choice === "" ? "" : `  ${choice}`, look: "dim" },
  ];
}

/** "options: one, all   default: one in 30m". */
export function choiceOf({ options, default: answer, deadline }: InboxItem, now: Instant): string {
  const deadlineAt = deadline === null ? null : Date.parse(deadline);
  return choiceInWords({ options, default: answer, deadlineAt }, Math.floor(now / 1_000) * 1_000);
}
