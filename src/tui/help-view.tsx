import type { ReactNode } from "react";
import { frameRows } from "./layout.ts";
import { Line, Panel, Title } from "./line.tsx";
import type { Model } from "./model.ts";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["↑ ↓ j k", "select a task or a question, or scroll the log"],
  ["← → h", "go to another column of the board"],
  ["g G PgUp PgDn", "go to the first, to the last, further"],
  ["Tab", "go to the next panel: board, inbox, log"],
  ["a", "answer the question of the task, or the first of the inbox"],
  ["s", "steer: tell the agent something"],
  ["c", "cancel the loop of the task"],
  ["u", "unblock the task"],
  ["r", "try again now, where the run waits"],
  ["x", "stop the run after the iterations under way"],
  ["l Enter", "read the transcript of the task's last iteration"],
  ["f", "filter the board by words or a status; Esc shows all"],
  ["q Ctrl-C", "leave the monitor; a run goes on by itself"],
  ["", ""],
  ["In a transcript", "/ search  n N next, previous  f follow  g G  space b  q back"],
  ["Signs", "· to do  ▸ at work  ✔ done  ? asks  ■ blocked  ✗ failed"],
];

export function HelpView({ model }: { readonly model: Model }): ReactNode {
  return (
    <Panel rows={frameRows(model.size)}>
      <Title name="Keys" />
      {KEYS.map(([keys, does]) => (
        <Line key={keys} parts={[{ text: `  ${keys.padEnd(17)}`, look: "bold" }, does]} />
      ))}
      <Line parts={[{ text: "  Any key goes back.", look: "dim" }]} />
    </Panel>
  );
}
