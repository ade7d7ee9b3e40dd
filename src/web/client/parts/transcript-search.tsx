import { useId, useState } from "preact/hooks";
import { useSearch } from "../use-search.ts";

interface TranscriptSearchProps {
  readonly iteration: number;
  readonly onJump: (byte: number) => void;
}

/** Looks for a text in the whole transcript, and goes from place to place. */
export function TranscriptSearch({ iteration, onJump }: TranscriptSearchProps) {
  const field = useId();
  const [text, setText] = useState("");
  const search = useSearch(iteration, onJump);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void search.look(text);
      }}
    >
      <label for={field} class="unseen">
        Search the transcript
      </label>
      <input
        id={field}
        type="search"
        data-search
        placeholder="search ( / )"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <span class="search-count" role="status">
        {search.says}
      </span>
      {search.hits > 1 && (
        <>
          <button type="button" class="small" aria-label="Place before" onClick={() => search.step(-1)}>
            ↑
          </button>
          <button type="button" class="small" aria-label="Next place" onClick={() => search.step(1)}>
            ↓
          </button>
        </>
      )}
    </form>
  );
}
