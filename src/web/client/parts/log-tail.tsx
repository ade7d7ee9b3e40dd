import { useState } from "preact/hooks";
import { clockTime, fullMoment } from "../format.ts";
import { logLines } from "../overview-store.ts";

const SHOWN = 20;
const STEP = 100;

/** The last things that happened, the newest last. */
export function LogTail() {
  const [shown, setShown] = useState(SHOWN);
  const lines = logLines.value;
  if (lines.length === 0) return null;
  return (
    <section class="panel log" aria-labelledby="log-title">
      <h2 id="log-title">
        Log
        {lines.length > shown && (
          <button type="button" class="quiet small" onClick={() => setShown(shown + STEP)}>
            Earlier
          </button>
        )}
        {shown > SHOWN && (
          <button type="button" class="quiet small" onClick={() => setShown(SHOWN)}>
            Last {SHOWN}
          </button>
        )}
      </h2>
      <ol class="log-lines">
        {lines.slice(-shown).map(({ position, at, text }, index) => (
          <li key={`${position} ${index}`}>
            <time title={fullMoment(at)}>{clockTime(at, true)}</time> <span>{text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
