import { useEffect } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { shortId } from "./format.ts";
import { overview, overviewProblem } from "./overview-store.ts";
import { BoardPage } from "./pages/board.tsx";
import { ChartsPage } from "./pages/charts.tsx";
import { InboxPage } from "./pages/inbox.tsx";
import { IterationPage } from "./pages/iteration.tsx";
import { RunPage } from "./pages/run.tsx";
import { RunsPage } from "./pages/runs.tsx";
import { Announcer } from "./parts/announcer.tsx";
import { Help } from "./parts/help.tsx";
import { Masthead } from "./parts/masthead.tsx";
import { Empty, Trouble } from "./parts/notices.tsx";
import { route, type Route } from "./router.ts";

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
    case "charts":
      return "Charts";
    case "inbox":
      return "Inbox";
    case "missing":
      return "No such page";
  }
}
