import { overview } from "../overview-store.ts";
import { InboxPanel } from "../parts/inbox-panel.tsx";
import { Empty, Loading } from "../parts/notices.tsx";

export function InboxPage() {
  const known = overview.value;
  if (known === undefined) return <Loading />;
  const { inbox } = known.status;
  return (
    <>
      <h1 class="page-title">Inbox</h1>
      {inbox.length === 0 ? (
        <Empty title="Nothing waits for you" command={known.hint}>
          Questions and blocked tasks come here by themselves.
        </Empty>
      ) : (
        <InboxPanel items={inbox} />
      )}
    </>
  );
}
