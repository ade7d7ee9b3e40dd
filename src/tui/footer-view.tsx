import type { ReactNode } from "react";
import { Line, Panel, type Part } from "./line.tsx";
import { questionFor } from "./look-keys.ts";
import { refusalOf } from "./may-act.ts";
import type { Model } from "./model.ts";
import { selectedTask } from "./selection.ts";

/** What was just said, and the keys that can be used now. */
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
