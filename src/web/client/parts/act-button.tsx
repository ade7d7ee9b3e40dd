import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PageAct } from "../../api.ts";
import { sentence } from "../format.ts";
import { type Acting, useAct } from "../use-resource.ts";

interface ActButtonProps {
  readonly label: string;
  /** Why it cannot be used now. */
  readonly reason?: string | null;
  /** Asked in place before it happens; null: it happens at once. */
  readonly confirm?: string | null;
  readonly kind?: "primary" | "danger" | "plain";
  readonly onAct: () => void;
  readonly about?: string;
}

/** A button that says why it cannot be used, and asks in place where that is due. */
export function ActButton({
  label,
  reason = null,
  confirm = null,
  kind = "plain",
  onAct,
  about,
}: ActButtonProps) {
  const [isAsking, ask] = useState(false);
  const own = useRef<HTMLButtonElement>(null);
  const id = useId();
  const wasAsking = useRef(false);
  useLayoutEffect(() => {
    if (wasAsking.current && !isAsking) own.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);
  if (isAsking && reason === null) {
    return (
      <Asking
        question={confirm ?? label}
        onAnswer={(isYes) => {
          ask(false);
          if (isYes) onAct();
        }}
      />
    );
  }
  return (
    <span class="act">
      <button
        ref={own}
        type="button"
        class={kind}
        aria-disabled={reason !== null}
        aria-label={about === undefined ? undefined : `${label} ${about}`}
        aria-describedby={reason === null ? undefined : id}
        title={reason === null ? undefined : sentence(reason)}
        onClick={() => {
          if (reason !== null) return;
          if (confirm === null) onAct();
          else ask(true);
        }}
      >
        {label}
      </button>
      {reason !== null && (
        <span id={id} class="act-why">
          {sentence(reason)}
        </span>
      )}
    </span>
  );
}

function Asking(props: { readonly question: string; readonly onAnswer: (isYes: boolean) => void }) {
  const { question, onAnswer } = props;
  const yes = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => yes.current?.focus(), []);
  return (
    <span
      class="asking"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") onAnswer(false);
      }}
    >
      <span>{question}</span>
      <button ref={yes} type="button" class="danger" onClick={() => onAnswer(true)}>
        Yes
      </button>
      <button type="button" onClick={() => onAnswer(false)}>
        No
      </button>
    </span>
  );
}

/** What was refused, where it was asked for; what is done is said by a toast. */
export function ActOutcome({ acting: { outcome } }: { readonly acting: Acting }) {
  return (
    <span class="outcome is-bad" role="status">
      {outcome?.isGood === false ? `✗ ${sentence(outcome.text)}` : ""}
    </span>
  );
}

/** A message for the agent of a task, or for whoever works next. */
export function SteerForm({ task }: { readonly task: string | null }) {
  const acting = useAct();
  const whom = task === null ? "whoever works next" : `the agent of ${task}`;
  return (
    <div class="steer">
      <LineForm
        label={`Tell ${whom}`}
        hint={`tell ${whom}`}
        button="Tell"
        acting={acting}
        actOf={(text) => ({ do: "steer", task, text })}
      />
      <ActOutcome acting={acting} />
    </div>
  );
}

interface LineFormProps {
  readonly label: string;
  readonly hint: string;
  readonly button: string;
  /** What the button does to, for those who only hear it. */
  readonly about?: string;
  readonly acting: Acting;
  readonly actOf: (text: string) => PageAct;
  readonly onDone?: () => void;
}

/** A line to write, and what it does. It is emptied when that is done. */
export function LineForm({ label, hint, button, about, acting, actOf, onDone }: LineFormProps) {
  const [text, setText] = useState("");
  const field = useId();
  const send = async (): Promise<void> => {
    if (!(await acting.run(actOf(text)))) return;
    setText("");
    onDone?.();
  };
  return (
    <form
      class="line-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for={field} class="unseen">
        {label}
      </label>
      <input
        id={field}
        value={text}
        placeholder={hint}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={acting.isBusy} aria-label={about && `${button} ${about}`}>
        {button}
      </button>
    </form>
  );
}
