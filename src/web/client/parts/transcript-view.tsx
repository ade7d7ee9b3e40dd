import { useState } from "preact/hooks";
import { bytes } from "../format.ts";
import { EMPTY_WINDOW } from "../transcript-window.ts";
import { useTranscript } from "../use-transcript.ts";
import { Loading, Trouble } from "./notices.tsx";
import { TranscriptSearch } from "./transcript-search.tsx";
import { TranscriptText } from "./transcript-text.tsx";

/** What the agent printed, with ways to find a place in it. */
export function TranscriptView(props: { readonly iteration: number; readonly isRunning: boolean }) {
  const { iteration, isRunning } = props;
  const { reader, reading } = useTranscript(iteration, isRunning);
  const [isFollowing, follow] = useState(isRunning);
  const window = reading?.window ?? EMPTY_WINDOW;
  const problem = reading?.problem ?? null;
  const goTo = (byte: number): void => {
    follow(false);
    reader.jump(byte);
  };
  return (
    <section class="panel transcript" aria-labelledby="transcript-title">
      <div class="list-bar">
        <h2 id="transcript-title">
          Transcript <span class="muted">{bytes(window.bytes)}</span>
        </h2>
        <TranscriptSearch iteration={iteration} onJump={goTo} />
        <div class="transcript-ends">
          <button type="button" class="small" onClick={() => goTo(0)}>
            Start
          </button>
          <button
            type="button"
            class="small"
            onClick={() => {
              follow(isRunning);
              reader.toEnd();
            }}
          >
            End
          </button>
          {isRunning && (
            <label class="follow">
              <input
                type="checkbox"
                checked={isFollowing}
                onChange={(event) => follow(event.currentTarget.checked)}
              />{" "}
              follow
            </label>
          )}
        </div>
      </div>
      {problem !== null && <Trouble problem={problem} />}
      {reading === null && <Loading />}
      {reading !== null && (
        <TranscriptText reader={reader} reading={reading} isFollowing={isFollowing && isRunning} />
      )}
    </section>
  );
}
