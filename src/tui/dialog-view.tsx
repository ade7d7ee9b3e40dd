import { Box, Text } from "ink";
import { useContext, type ReactNode } from "react";
import type { Instant } from "../core/time.ts";
import { unreachable } from "../core/unreachable.ts";
import { answerFor } from "./dialog-keys.ts";
import { choiceOf } from "./inbox-view.tsx";
import { questionRows } from "./layout.ts";
import { Frame, Line, Panel, Title, type Part } from "./line.tsx";
import type { Dialog, Mode, Model } from "./model.ts";
import { textOf, type TextField } from "./text-field.ts";

/** What is asked of the person who sits here. */
export function DialogView({ model, rows }: { readonly model: Model; readonly rows: number }): ReactNode {
  const { mode } = model;
  if (mode.is === "confirm")
    return (
      <Panel rows={rows}>
        <Title name={mode.question} look="ask" />
        <Line parts={["  ", { text: "y", look: "bold" }, " yes   ", { text: "n", look: "bold" }, " no"]} />
      </Panel>
    );
  if (mode.is === "leave")
    return (
      <Panel rows={rows}>
        <Title name="The run is still on" look="ask" />
        <Line parts={LEAVE} />
      </Panel>
    );
  return mode.is === "type" ? <Typing model={model} mode={mode} rows={rows} /> : null;
}

const LEAVE: readonly Part[] = [
  "  ",
  { text: "l", look: "bold" },
  " leave it running   ",
  { text: "s", look: "bold" },
  " stop after the iteration   ",
  { text: "n", look: "bold" },
  " stop now   ",
  { text: "Esc", look: "bold" },
  " stay",
];

function Typing({
  model,
  mode,
  rows,
}: {
  readonly model: Model;
  readonly mode: Extract<Mode, { is: "type" }>;
  readonly rows: number;
}): ReactNode {
  const { dialog, field } = mode;
  return (
    <Panel rows={rows}>
      <Title name={titleOf(dialog)} look="ask" />
      {dialog.asks === "answer" && <Question dialog={dialog} model={model} />}
      <Field field={field} />
      <Line parts={[{ text: `  ${keysOf(dialog, field, model.overview.now)}`, look: "dim" }]} />
    </Panel>
  );
}

function Question({
  dialog,
  model,
}: {
  readonly dialog: Extract<Dialog, { asks: "answer" }>;
  readonly model: Model;
}): ReactNode {
  const { text, options } = dialog.item;
  return (
    <>
      {questionRows(text, model.size.columns).map((row, index) => (
        <Line key={index} parts={[`  ${row}`]} />
      ))}
      {options.length > 0 && (
        <Line
          parts={options.flatMap((option, index): Part[] => [
            "  ",
            { text: `${index + 1}`, look: "bold" },
            ` ${option}`,
          ])}
        />
      )}
    </>
  );
}

function titleOf(dialog: Dialog): string {
  switch (dialog.asks) {
    case "answer":
      return `${dialog.item.task} asks`;
    case "steer":
      return dialog.to === null ? "Tell whoever works next" : `Tell the agent of ${dialog.to}`;
    case "unblock":
      return `Unblock ${dialog.task}: what has changed?`;
    case "filter":
      return "Filter: words of id, title, stage, agent, or a status";
    default:
      return unreachable(dialog);
  }
}

function keysOf(dialog: Dialog, field: TextField, now: Instant): string {
  switch (dialog.asks) {
    case "answer": {
      const typed = textOf(field).trim();
      const answer = answerFor(dialog.item.options, typed);
      const means = answer === typed ? "" : ` "${answer}"`;
      const rest = choiceOf({ ...dialog.item, options: [] }, now);
      return `Enter answers${means} · Esc leaves it open${rest === "" ? "" : ` · ${rest}`}`;
    }
    case "steer":
      return dialog.to === dialog.other
        ? "Enter tells · Esc gives it up"
        : "Enter tells · Tab: somebody else · Esc gives it up";
    case "unblock":
      return "Enter unblocks · Esc gives it up";
    case "filter":
      return "Enter keeps it · Esc takes it away";
    default:
      return unreachable(dialog);
  }
}

/** What is typed, with the cursor; a long line shows its end. */
export function Field({
  field,
  mark = "  > ",
}: {
  readonly field: TextField;
  readonly mark?: string;
}): ReactNode {
  const { hasColours } = useContext(Frame);
  const { before, after } = field;
  return (
    <Box>
      <Box flexShrink={0}>
        <Text>{mark}</Text>
      </Box>
      <Text wrap="truncate-start">
        {before}
        {hasColours ? <Text inverse> </Text> : "▏"}
        {after}
      </Text>
    </Box>
  );
}
