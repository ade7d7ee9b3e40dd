import { clockTime, formatDuration } from "../core/time.ts";
import { Box } from "ink";
import type { ReactNode } from "react";
import { dollars } from "../core/loop/brakes.ts";
import type { Overview } from "../core/views/overview.ts";
import type { RunStatus } from "../core/views/status.ts";
import { BoardView, LanesView } from "./board-view.tsx";
import { DetailView } from "./detail-view.tsx";
import { DialogView, Field, FooterView, InboxView, keyParts, said } from "./dialog-view.tsx";
import { frameRows, headerNote, isTooSmall, layoutOf, TOO_SMALL } from "./layout.ts";
import { Frame, Line, type Look, Panel, type Part, Title, type ViewProps } from "./line.tsx";
import { wholeSeconds } from "./plain-line.ts";
import type { Model } from "./model.ts";
import { type Pager, pagerHeight } from "./pager.ts";

export function MonitorView({ model, hasColours }: { model: Model; hasColours: boolean }): ReactNode {
  return (
    <Frame value={{ columns: model.size.columns, hasColours }}>
      <Box flexDirection="column" width={model.size.columns} height={frameRows(model.size)} overflow="hidden">
        <Content model={model} />
      </Box>
    </Frame>
  );
}

function Content({ model }: Pick<ViewProps, "model">): ReactNode {
  if (isTooSmall(model)) return <Line parts={[TOO_SMALL]} />;
  if (model.mode.is === "pager") return <PagerView model={model} pager={model.mode.pager} />;
  if (model.mode.is === "help") return <HelpView model={model} />;
  if (model.mode.is === "detail") return <DetailView model={model} />;
  const layout = layoutOf(model);
  return (
    <>
      <HeaderView model={model} rows={layout.header} />
      <InboxView model={model} rows={layout.inbox} />
      <BoardView model={model} rows={layout.board} />
      <LanesView model={model} rows={layout.lanes} />
      <DialogView model={model} rows={layout.dialog} />
      <LogView model={model} rows={layout.log} />
      <Box flexGrow={1} />
      <FooterView model={model} />
    </>
  );
}

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["↑ ↓ j k", "select a task or a question, or scroll the log"],
  ["← → h", "go to another column of the board"],
  ["g G PgUp PgDn", "go to the first, to the last, further"],
  ["Tab", "go to the next panel: board, inbox, log"],
  ["a", "answer or approve: the task, or the first of the inbox"],
  ["b", "send accepted work back, with what should change"],
  ["d", "all about the task: criteria, attempts, what it waits for"],
  ["s", "steer: tell the agent something"],
  ["c", "cancel the loop of the task"],
  ["u", "unblock the task"],
  ["r", "try again now, where the run waits"],
  ["p", "pause the run, or resume it"],
  ["x", "stop the run after the iterations under way"],
  ["l Enter", "read the transcript of the task's last iteration"],
  ["f", "filter the board by words or a status; Esc shows all"],
  ["q Ctrl-C", "leave the monitor; a run goes on by itself"],
  ["", ""],
  ["In a transcript", "/ search  n N next, previous  e unfold  f follow  g G  q back"],
  ["Signs", "· to do  ▸ at work  ✔ done  ! failed  – skipped"],
  ["For you", "? asks  ◎ waits for your approval  ■ blocked"],
];

function HelpView({ model }: Pick<ViewProps, "model">): ReactNode {
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

function LogView({ model, rows }: ViewProps): ReactNode {
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

/** Who and what, how far, how long, how much; and how close the limits are. */
function HeaderView({ model, rows }: ViewProps): ReactNode {
  const { overview, state } = model;
  const { run, cost } = overview.status;
  const note = headerNote(model);
  const facts = [
    run && `iteration ${run.iterations}/${run.max_iterations}`,
    // When it was killed is not known.
    run === null || run.interrupted ? null : elapsed(run, overview.now),
    state.run?.settings.agent,
    cost.usd === null ? null : dollars(cost.usd),
  ].filter((fact) => fact != null);
  const waiting = overview.status.inbox.length;
  return (
    <Panel rows={rows}>
      <Line
        parts={[
          { text: overview.project, look: "bold" },
          "  ",
          runState(run, overview.workers !== null),
          ...facts.map((fact): Part => ` · ${fact}`),
        ]}
        end={waiting === 0 ? [] : [{ text: ` ? ${waiting} for you`, look: "ask" }]}
      />
      <Line parts={meters(overview, model.size.columns)} />
      {note !== null && <Line parts={[{ text: note, look: "dim" }]} />}
    </Panel>
  );
}

function runState(run: RunStatus | null, isShared: boolean): Part {
  if (run === null) return { text: "no run yet", look: "dim" };
  if (run.interrupted) return { text: isShared ? "✗ stands still" : "✗ interrupted", look: "bad" };
  if (run.state === "running")
    return run.paused ? { text: "▸ pausing", look: "ask" } : { text: "▸ running", look: "good" };
  if (run.state === "waiting") {
    const { waiting_until: until, paused } = run;
    if (paused) return { text: "· paused", look: "ask" };
    const what = until === null ? "for you" : `until ${clockTime(Date.parse(until))}`;
    return { text: `· waiting ${what}`, look: "ask" };
  }
  return run.outcome === "completed"
    ? { text: "✔ complete", look: "good" }
    : { text: `■ ended: ${run.outcome ?? "unknown"}`, look: "bad" };
}

function elapsed(run: RunStatus, now: number): string {
  const until = run.ended_at === null ? now : Date.parse(run.ended_at);
  return formatDuration(wholeSeconds(until - Date.parse(run.started_at)));
}

function meters({ status }: Overview, columns: number): readonly Part[] {
  const { calls, cost, breaker } = status;
  const width = columns >= 120 ? 20 : 6;
  const [used, spent] = [calls.used ?? 0, cost.usd ?? 0];
  const { limit } = calls;
  const { budget_usd: budget } = cost;
  const isClosed = breaker.state === "CLOSED";
  const state = `breaker ${breaker.state.toLowerCase().replace("_", " ")}`;
  return [
    ...(limit === null ? [`calls ${used}`] : [...bar("calls", used / limit, width), `${used}/${limit}`]),
    " this hour   ",
    ...(budget === null ? [] : bar("budget", spent / budget, width)),
    budget === null ? "" : `${dollars(spent)}/${dollars(budget)}   `,
    isClosed ? { text: state, look: "dim" } : { text: `■ ${state}`, look: "bad" },
  ];
}

function bar(name: string, share: number, width: number): readonly Part[] {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  const look = share >= 1 ? "bad" : share >= 0.8 ? "ask" : "good";
  return [`${name} `, { text: "█".repeat(full), look }, { text: "░".repeat(width - full), look: "dim" }, " "];
}

const PAGER_KEYS = keyParts([
  ["↑↓", "scroll"],
  ["/", "search"],
  ["n N", "next"],
  ["e", "unfold"],
  ["f", "follow"],
  ["g G", "begin, end"],
  ["q", "back"],
]);

function PagerView({ model, pager }: { model: Model; pager: Pager }): ReactNode {
  const height = pagerHeight(model.size.rows);
  const shown = pager.rows.slice(pager.top, pager.top + height);
  return (
    <Panel rows={frameRows(model.size)}>
      <Title name={`${pager.task} · iteration ${pager.iteration} · ${place(pager, height)}`} />
      <Panel rows={height}>
        {pager.transcript?.size === 0 && (
          <Line parts={[{ text: "  Nothing is printed yet.", look: "dim" }]} />
        )}
        {shown.map((text, index) => (
          <Line key={index} parts={highlighted(text, pager.query)} />
        ))}
      </Panel>
      {pager.search === null ? (
        <Line parts={model.says === null ? PAGER_KEYS : said(model)} />
      ) : (
        <Field field={pager.search} mark="/" />
      )}
    </Panel>
  );
}

function place({ rows, top, transcript, follows }: Pager, height: number): string {
  if (transcript === null) return "…";
  if (follows) return "follows the end";
  return top + height >= rows.length ? "end" : `${Math.floor((top / rows.length) * 100)} %`;
}

/** The lines of a diff, and what went wrong. */
function lookOf(row: string): Look {
  const [, mark] = /^(?: {10})? {4}([+-])/.exec(row) ?? [];
  if (mark !== undefined) return mark === "+" ? "good" : "bad";
  return /^(?:\S{8}  )?✗ |^(?:\S{8}  )?→ .*  ✗ /.test(row) ? "bad" : "plain";
}

function highlighted(text: string, query: string): readonly Part[] {
  if (query === "") return [text === "" ? " " : { text, look: lookOf(text) }];
  const wanted = new RegExp(`(${query.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")})`, "i");
  const parts = text
    .split(wanted)
    .map((part, at): Part => (at % 2 === 1 ? { text: part, look: "selected" } : part));
  return [...parts, " "];
}
