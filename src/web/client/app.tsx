import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { VERDICT_SIGNS } from "../../core/views/signs.ts";
import { shortId } from "./format.ts";
import { connection, overview, overviewProblem } from "./overview-store.ts";
import { BoardPage } from "./pages/board.tsx";
import { ChartsPage } from "./pages/charts.tsx";
import { IterationPage } from "./pages/iteration.tsx";
import { RunPage, RunsPage } from "./pages/runs.tsx";
import { TaskPage } from "./pages/task.tsx";
import { InboxPanel } from "./parts/inbox-panel.tsx";
import { Empty, Loading, Trouble } from "./parts/notices.tsx";
import { isHelpOpen, route, type Route } from "./router.ts";
import { nextTheme, theme } from "./theme.ts";
import { Toasts } from "./toasts.tsx";

export function App() {
  const at = route.value;
  const title = titleOf(at);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const problem = overviewProblem.value;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Masthead at={at} />
      <main id="main" class={`page page-${at.page}`} tabIndex={-1}>
        {problem !== null && <Trouble problem={problem} />}
        {pageAt(at)}
      </main>
      <Toasts />
      <Announcer />
      <Help />
    </>
  );
}

function pageAt(at: Route): ComponentChildren {
  switch (at.page) {
    case "board":
      return <BoardPage />;
    case "runs":
      return <RunsPage />;
    case "run":
      return <RunPage key={at.id} id={at.id} />;
    case "iteration":
      return <IterationPage key={at.number} number={at.number} />;
    case "task":
      return <TaskPage key={at.id} id={at.id} />;
    case "charts":
      return <ChartsPage />;
    case "inbox":
      return <InboxPage />;
    case "missing":
      return <Empty title="There is no such page">The board is one step away: press g, then b.</Empty>;
  }
}

function titleOf(at: Route): string {
  const waiting = overview.value?.status.inbox.length ?? 0;
  const parts = [waiting > 0 ? `(${waiting}) ` : "", nameOf(at), " · ", overview.value?.project ?? "Ralph"];
  return parts.join("");
}

function nameOf(at: Route): string {
  switch (at.page) {
    case "board":
      return "Board";
    case "runs":
      return "Runs";
    case "run":
      return `Run ${shortId(at.id)}`;
    case "iteration":
      return `Iteration ${at.number}`;
    case "task":
      return at.id;
    case "charts":
      return "Charts";
    case "inbox":
      return "Inbox";
    case "missing":
      return "No such page";
  }
}

/** Says aloud what has come into the inbox since the page was opened. */
function Announcer() {
  const inbox = overview.value?.status.inbox;
  const known = useRef<ReadonlySet<string> | null>(null);
  const [said, say] = useState("");
  useEffect(() => {
    if (inbox === undefined) return;
    const keys = inbox.map(({ task, text }) => `${task} ${text}`);
    const before = known.current;
    const fresh = before === null ? [] : inbox.filter((_, index) => !before.has(keys[index] ?? ""));
    known.current = new Set(keys);
    if (fresh.length > 0) {
      const lines = fresh.map(({ task, kind, text }) =>
        kind === "blocked"
          ? `${task} is blocked: ${text}`
          : kind === "review"
            ? `${task} waits for your approval`
            : `${task} asks: ${text}`,
      );
      say(lines.join(" "));
    }
  }, [inbox]);
  return (
    <div class="unseen" aria-live="polite">
      {said}
    </div>
  );
}

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["?"], "this help"],
  [["g", "b"], "the board"],
  [["g", "r"], "runs"],
  [["g", "c"], "charts"],
  [["g", "i"], "the inbox"],
  [["/"], "the search or filter of a page"],
  [["Tab"], "everything, in order"],
  [["←", "→"], "move the time line"],
  [["+", "−", "0"], "zoom the time line; all of it"],
  [["↑", "↓"], "the span before or after; Enter opens its iteration"],
];

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="legend-line">
        {Object.entries(VERDICT_SIGNS)
          .map(([name, { sign }]) => `${sign} ${name}`)
          .join("  ")}
      </p>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

function InboxPage() {
  const known = overview.value;
  if (known === undefined) return <Loading />;
  const { inbox } = known.status;
  return (
    <>
      <h1 class="page-title">Inbox</h1>
      {inbox.length === 0 && (
        <Empty title="Nothing waits for you" command={known.hint}>
          Questions and blocked tasks come here by themselves.
        </Empty>
      )}
      <InboxPanel items={inbox} />
    </>
  );
}

const PLACES: readonly { readonly name: string; readonly href: string; readonly pages: readonly string[] }[] =
  [
    { name: "Board", href: "/", pages: ["board", "task"] },
    { name: "Runs", href: "/runs", pages: ["runs", "run", "iteration"] },
    { name: "Charts", href: "/charts", pages: ["charts"] },
    { name: "Inbox", href: "/inbox", pages: ["inbox"] },
  ];

const THEME_SIGNS = { system: "◐", light: "○", dark: "●" } as const;

function Masthead({ at }: { readonly at: Route }) {
  const known = overview.value;
  const waiting = known?.status.inbox.length ?? 0;
  return (
    <header class="masthead">
      <a class="brand" href="/">
        <span class="brand-mark" aria-hidden="true">
          ↻
        </span>
        <span class="brand-name">{known?.project ?? "ralph"}</span>
      </a>
      <nav aria-label="Pages">
        {PLACES.map(({ name, href, pages }) => (
          <a key={href} href={href} aria-current={pages.includes(at.page) ? "page" : undefined}>
            {name}
            {name === "Inbox" && waiting > 0 && (
              <>
                {" "}
                <span class="badge">{waiting}</span>
              </>
            )}
          </a>
        ))}
      </nav>
      <div class="masthead-end">
        {known !== undefined && !known.mayAct && <span class="tag">read-only</span>}
        <Connection />
        <button
          type="button"
          class="quiet icon"
          onClick={nextTheme}
          title={`Colours: ${theme.value}`}
          aria-label={`Colours: ${theme.value}. Change`}
        >
          <span aria-hidden="true">{THEME_SIGNS[theme.value]}</span>
        </button>
        <button
          type="button"
          class="quiet icon"
          title="Help (?)"
          aria-label="Help"
          onClick={() => (isHelpOpen.value = true)}
        >
          <span aria-hidden="true">?</span>
        </button>
      </div>
    </header>
  );
}

function Connection() {
  const state = connection.value;
  return (
    <span class={`connection is-${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">
        {state === "live" ? "live" : state === "connecting" ? "connecting…" : "reconnecting…"}
      </span>
    </span>
  );
}
