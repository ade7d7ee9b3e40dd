import { Box, Text } from "ink";
import { type ReactNode, useContext } from "react";
import { type InboxItem, choiceInWords } from "../core/projections/inbox.ts";
import type { Instant } from "../core/time.ts";
import { unreachable } from "../core/unreachable.ts";
import { answerFor, questionFor } from "./look-keys.ts";
import { questionRows } from "./layout.ts";
import { Frame, Line, Panel, type Part, Title } from "./line.tsx";
import { type Dialog, type Mode, type Model, refusalOf } from "./model.ts";
import { selectedItem, selectedTask, windowAround } from "./selection.ts";
import { type TextField, textOf } from "./key.ts";

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
function choiceOf({ options, default: answer, deadline }: InboxItem, now: Instant): string {
  const deadlineAt = deadline === null ? null : Date.parse(deadline);
  return choiceInWords({ options, default: answer, deadlineAt }, Math.floor(now / 1_000) * 1_000);
}

export function FooterView({ model }: { readonly model: Model }): ReactNode {
  return (
    <Panel rows={2}>
      <Line parts={said(model)} />
      <Line parts={keyParts(usableKeys(model))} end={model.mode.is === "look" ? HELP : []} />
    </Panel>
  );
}

const HELP: readonly Part[] = [
  " ",
  ...keyParts([
    ["?", "help"],
    ["q", "quit"],
  ]),
];

export function said({ says, ownRun }: Model): readonly Part[] {
  if (says !== null)
    return [
      says.isRefusal ? { text: `✗ ${says.text}`, look: "bad" } : { text: `✔ ${says.text}`, look: "good" },
    ];
  if (ownRun?.exitCode != null)
    return [{ text: `The run has ended (exit code ${ownRun.exitCode}). Press q to leave.`, look: "bold" }];
  return [" "];
}

export function keyParts(keys: readonly (readonly [key: string, does: string])[]): readonly Part[] {
  return keys.flatMap(([key, does]): Part[] => [{ text: key, look: "bold" }, ` ${does}  `]);
}

function usableKeys(model: Model): readonly (readonly [string, string])[] {
  if (model.mode.is !== "look") return [];
  const task = selectedTask(model);
  const may = (act: Parameters<typeof refusalOf>[1]): boolean => refusalOf(model, act) === null;
  const ofTask = (act: "cancel" | "unblock"): boolean =>
    task !== null && may(act === "cancel" ? { do: act, task } : { do: act, task, reason: "" });
  const keys: readonly (readonly [key: string, does: string, isUsable: boolean])[] = [
    ["a", "answer", model.overview.mayAct && questionFor(model) !== null],
    ["u", "unblock", ofTask("unblock")],
    ["r", "retry now", may({ do: "retry" })],
    ["c", "cancel", ofTask("cancel")],
    ["s", "steer", may({ do: "steer", task: null, text: "…" })],
    ["l", "log", task !== null],
    ["x", "stop", may({ do: "stop" })],
    ["f", "filter", task !== null],
    ["Tab", "panel", true],
  ];
  return keys.filter(([, , isUsable]) => isUsable).map(([key, does]) => [key, does] as const);
}
