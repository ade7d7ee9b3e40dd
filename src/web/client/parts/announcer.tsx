import { useEffect, useRef, useState } from "preact/hooks";
import { overview } from "../overview-store.ts";

/** Says aloud what has come into the inbox since the page was opened. */
export function Announcer() {
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
        kind === "decide" ? `${task} asks: ${text}` : `${task} is blocked: ${text}`,
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
