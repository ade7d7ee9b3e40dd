import { Box, Text } from "ink";
import type { OperatorAct } from "../core/loop/operator-act.ts";
import { type ReactNode, useContext } from "react";
import { type InboxItem, choiceInWords } from "../core/views/inbox.ts";
import { TASK_SIGNS } from "../core/views/signs.ts";
import type { Instant } from "../core/time.ts";
import { unreachable } from "../core/unreachable.ts";
import { answerFor, questionFor } from "./look-keys.ts";
import { questionRows } from "./layout.ts";
import { Frame, Line, Panel, type Part, Title, type ViewProps } from "./line.tsx";
import { type Dialog, type Model, refusalOf } from "./model.ts";
import { selectedItem, selectedTask, windowAround } from "./selection.ts";
import { type TextField, textOf } from "./key.ts";

export function DialogView({ model, rows }: ViewProps): ReactNode {
  const { mode } = model;
  if (mode.is === "choose")
    return (
      <Panel rows={rows}>
        <Title name={mode.question} look="ask" />
        <Line
          parts={mode.choices.flatMap(({ key, does }) => ["  ", { text: key, look: "bold" }, ` ${does} `])}
        />
      </Panel>
    );
  if (mode.is !== "type") return null;
  const { dialog, field } = mode;
  const { title, keys } = wordsOf(dialog, field, model.overview.now);
  return (
    <Panel rows={rows}>
      <Title name={title} look="ask" />
      {dialog.asks === "answer" && <Question item={dialog.item} columns={model.size.columns} />}
      <Field field={field} />
      <Line parts={[{ text: `  ${keys}`, look: "dim" }]} />
    </Panel>
  );
}

function Question({ item, columns }: { readonly item: InboxItem; readonly columns: number }): ReactNode {
  const options = item.options.map((option, index) => [`${index + 1}`, option] as const);
  return (
    <>
      {questionRows(item.text, columns).map((row, index) => (
        <Line key={index} parts={[`  ${row}`]} />
      ))}
      {options.length > 0 && <Line parts={["  ", ...keyParts(options)]} />}
    </>
  );
}

function wordsOf(
  dialog: Dialog,
  field: TextField,
  now: Instant,
): { readonly title: string; readonly keys: string } {
  switch (dialog.asks) {
    case "answer": {
      const typed = textOf(field).trim();
      const answer = answerFor(dialog.item.options, typed);
      const means = answer === typed ? "" : ` "${answer}"`;
      const rest = choiceOf({ ...dialog.item, options: [] }, now);
      const keys = `Enter answers${means} · Esc leaves it open${rest === "" ? "" : ` · ${rest}`}`;
      return { title: `${dialog.item.task} asks`, keys };
    }
    case "steer": {
      const { to, other } = dialog;
      return {
        title: to === null ? "Tell whoever works next" : `Tell the agent of ${to}`,
        keys: `Enter tells · ${to === other ? "" : "Tab: somebody else · "}Esc gives it up`,
      };
    }
    case "unblock":
      return {
        title: `Unblock ${dialog.task}: what has changed?`,
        keys: "Enter unblocks · Esc gives it up",
      };
    case "send-back":
      return {
        title: `Send ${dialog.task} back: what should change?`,
        keys: "Enter sends it back · Esc gives it up",
      };
    case "filter":
      return {
        title: "Filter: words of id, title, stage, agent, or a status",
        keys: "Enter keeps it · Esc takes it away",
      };
    default:
      return unreachable(dialog);
  }
}

/** What is typed, with the cursor; a long line shows its end. */
export function Field({ field, mark = "  > " }: { field: TextField; mark?: string }): ReactNode {
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

export function InboxView({ model, rows }: ViewProps): ReactNode {
  const { inbox } = model.overview.status;
  const selected = selectedItem(model);
  const isFocused = model.panel === "inbox";
  const at = inbox.findIndex(({ task }) => task === selected?.task);
  const shown = windowAround(inbox, at, rows - 1);
  const more = inbox.length > shown.length ? ` · ${inbox.length - shown.length} more` : "";
  const name = `Inbox: ${inbox.length} ${inbox.length === 1 ? "waits" : "wait"} for you${more}`;
  return (
    <Panel rows={rows}>
      <Title name={name} isFocused={isFocused} look="ask" />
      {shown.map((item) => (
        <Line key={item.task} parts={itemParts(item, isFocused && item === selected, model.overview.now)} />
      ))}
    </Panel>
  );
}

function itemParts(item: InboxItem, isSelected: boolean, now: Instant): readonly Part[] {
  const choice = choiceOf(item, now);
  return [
    isSelected ? { text: "›", look: "selected" } : " ",
    signOf(item),
    { text: item.task, look: isSelected ? "selected" : "bold" },
    `  ${item.kind === "review" ? APPROVAL : item.text}`,
    { text: choice === "" ? "" : `  ${choice}`, look: "dim" },
  ];
}

/** As on the page. */
export const APPROVAL = "waits for your approval";

const SIGNS = { decide: TASK_SIGNS.undecided, review: TASK_SIGNS.review, blocked: TASK_SIGNS.blocked };

function signOf({ kind }: InboxItem): Part {
  const { sign, look } = SIGNS[kind];
  return { text: `${sign} `, look };
}

/** "options: one, all   default: one in 30m". */
function choiceOf({ options, default: answer, deadline }: InboxItem, now: Instant): string {
  const deadlineAt = deadline === null ? null : Date.parse(deadline);
  return choiceInWords({ options, default: answer, deadlineAt }, Math.floor(now / 1_000) * 1_000);
}

export function FooterView({ model }: Pick<ViewProps, "model">): ReactNode {
  const help = keyParts([
    ["?", "help"],
    ["q", "quit"],
  ]);
  return (
    <Panel rows={2}>
      <Line parts={said(model)} />
      <Line parts={keyParts(usableKeys(model))} end={model.mode.is === "look" ? [" ", ...help] : []} />
    </Panel>
  );
}

export function said({ says, ownRun }: Model): readonly Part[] {
  if (says?.isRefusal === true) return [{ text: `✗ ${says.text}`, look: "bad" }];
  if (says !== null) return [{ text: `✔ ${says.text}`, look: "good" }];
  if (ownRun?.exitCode != null)
    return [{ text: `The run has ended (exit code ${ownRun.exitCode}). Press q to leave.`, look: "bold" }];
  return [" "];
}

export function keyParts(keys: readonly (readonly [key: string, does: string])[]): readonly Part[] {
  return keys.flatMap(([key, does]): Part[] => [{ text: key, look: "bold" }, ` ${does}  `]);
}

function usableKeys(model: Model): readonly (readonly [key: string, does: string])[] {
  if (model.mode.is !== "look") return [];
  const task = selectedTask(model);
  const may = (act: OperatorAct): boolean => refusalOf(model, act) === null;
  const keys: readonly (readonly [key: string, does: string, isUsable: boolean])[] = [
    [
      "a",
      questionFor(model)?.kind === "review" ? "approve" : "answer",
      model.overview.mayAct && questionFor(model) !== null,
    ],
    ["b", "send back", task !== null && may({ do: "send-back", task, words: "…" })],
    ["u", "unblock", task !== null && may({ do: "unblock", task, reason: "" })],
    ["r", "retry now", may({ do: "retry" })],
    ["p", "resume", may({ do: "resume" })],
    ["c", "cancel", task !== null && may({ do: "cancel", task })],
    ["s", "steer", may({ do: "steer", task: null, text: "…" })],
    ["l", "log", task !== null],
    ["x", "stop", may({ do: "stop" })],
    ["f", "filter", task !== null],
    ["Tab", "panel", true],
    ["d", "detail", task !== null],
    ["p", "pause", may({ do: "pause" })],
  ];
  return keys.filter(([, , isUsable]) => isUsable).map(([key, does]) => [key, does]);
}
