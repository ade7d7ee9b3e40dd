import { useId, useState } from "preact/hooks";
import { useAct } from "../use-act.ts";
import { ActOutcome } from "./act-button.tsx";

/** A message for the agent of a task, or for whoever works next. */
export function SteerForm({ task }: { readonly task: string | null }) {
  const acting = useAct();
  const [text, setText] = useState("");
  const field = useId();
  const send = async (): Promise<void> => {
    if (await acting.run({ do: "steer", task, text })) setText("");
  };
  const whom = task === null ? "whoever works next" : `the agent of ${task}`;
  return (
    <form
      class="steer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="line-form">
        <label for={field} class="unseen">
          Tell {whom}
        </label>
        <input
          id={field}
          value={text}
          placeholder={`tell ${whom}`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" disabled={acting.isBusy}>
          Tell
        </button>
      </div>
      <ActOutcome acting={acting} />
    </form>
  );
}
