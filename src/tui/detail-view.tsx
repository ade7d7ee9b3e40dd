import type { ReactNode } from "react";
import { dollars } from "../core/loop/brakes.ts";
import { statusOf } from "../core/loop/task-status.ts";
import { type State, taskState } from "../core/state.ts";
import { count } from "../core/views/explain-words.ts";
import { TASK_SIGNS } from "../core/views/signs.ts";
import { APPROVAL, keyParts } from "./dialog-view.tsx";
import { frameRows } from "./layout.ts";
import { Line, Panel, type Part, Title, type ViewProps } from "./line.tsx";
import { plainLine, wrappedWords } from "./plain-line.ts";
import { selectedTask } from "./selection.ts";

const KEYS = keyParts([
  ["a", "answer, approve"],
  ["b", "send back"],
  ["u", "unblock"],
  ["s", "steer"],
  ["l", "log"],
  ["Esc", "back"],
]);

/** All about one task: what it wants, how often it was tried, and what it waits for. */
export function DetailView({ model }: Pick<ViewProps, "model">): ReactNode {
  const { size, state } = model;
  const rows = frameRows(size);
  const id = selectedTask(model) ?? "";
  const lines = detailLines(state, id, size.columns);
  return (
    <Panel rows={rows}>
      <Title name={id} isFocused />
      <Panel rows={rows - 2}>
        {lines.map((parts, index) => (
          <Line key={index} parts={parts} />
        ))}
      </Panel>
      <Line parts={KEYS} />
    </Panel>
  );
}

function detailLines(state: State, id: string, columns: number): readonly (readonly Part[])[] {
  const task = state.plan?.tasks.find((one) => one.id === id);
  if (task === undefined) return [["  It is not in the list any more."]];
  const status = statusOf(state, task);
  const { sign, look } = TASK_SIGNS[status];
  const paragraph = (text: string, indent = "  "): readonly (readonly Part[])[] =>
    text
      .split(/\r?\n/)
      .flatMap((line) => wrappedWords(plainLine(line), columns - indent.length - 1))
      .map((row, index) => [`${index === 0 ? indent : indent.replaceAll(/\S/g, " ")}${row}`]);
  const part = (name: string, lines: readonly (readonly Part[])[]): readonly (readonly Part[])[] =>
    lines.length === 0 ? [] : [[" "], [{ text: name, look: "bold" }], ...lines];
  const waits = waitOf(state, id);
  return [
    [{ text: `${sign} ${status}`, look }, `  ${task.title}`],
    ...part("What waits", waits === null ? [] : paragraph(waits)),
    ...part("Attempts", paragraph(attemptsInWords(state, id))),
    ...part(
      "What is wanted",
      task.description === "" || task.description === task.title ? [] : paragraph(task.description),
    ),
    ...part(
      "Criteria",
      task.criteria.flatMap((criterion) => paragraph(criterion, "  · ")),
    ),
  ];
}

function waitOf(state: State, id: string): string | null {
  const { question, blockedReason, isSkipped } = taskState(state, id);
  if (isSkipped) return "skipped: no run works on it until ralph skip --undo";
  if (question === null || question.answer !== null) return blockedReason;
  return question.acceptance?.isApproval === true ? APPROVAL : question.text;
}

/** "5 iterations, $1.20; the last 2 failed." */
function attemptsInWords(state: State, id: string): string {
  const { allIterations, failures, spend, completion, feedback } = taskState(state, id);
  if (allIterations === 0) return "No agent has worked on it yet.";
  const cost = spend.usd === null ? "" : `, ${dollars(spend.usd)}`;
  const last = failures === 0 ? "" : `; ${failures === 1 ? "the last one" : `the last ${failures}`} failed`;
  const done = completion === null ? "" : `; accepted in iteration ${completion.iteration}`;
  const [said] = feedback;
  const why = completion !== null || said === undefined ? "" : ` ${said.text}`;
  return `${count(allIterations, "iteration")}${cost}${last}${done}.${why}`;
}
