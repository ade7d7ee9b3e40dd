import { overview } from "../overview-store.ts";
import { BoardColumns } from "../parts/board-columns.tsx";
import { InboxPanel } from "../parts/inbox-panel.tsx";
import { LanesPanel } from "../parts/lanes-panel.tsx";
import { LogTail } from "../parts/log-tail.tsx";
import { MessagesPanel } from "../parts/messages-panel.tsx";
import { Empty, Loading } from "../parts/notices.tsx";
import { RunHeader } from "../parts/run-header.tsx";
import { WorkersPanel } from "../parts/workers-panel.tsx";

export function BoardPage() {
  const known = overview.value;
  if (known === undefined) return <Loading />;
  const { inbox } = known.status;
  const hasTasks = known.board.columns.some(({ cards }) => cards.length > 0);
  return (
    <>
      <RunHeader overview={known} />
      {inbox.length > 0 && <InboxPanel items={inbox} />}
      <div class="board-layout">
        <div class="board-main">
          {hasTasks ? (
            <BoardColumns overview={known} />
          ) : (
            <Empty
              title={known.status.run === null ? "Nothing has run here yet" : "The plan has no tasks"}
              command={known.hint}
            />
          )}
        </div>
        <div class="board-side">
          {known.workers !== null && <WorkersPanel workers={known.workers} />}
          <LanesPanel lanes={known.lanes} />
          <MessagesPanel overview={known} />
          <LogTail />
        </div>
      </div>
    </>
  );
}
