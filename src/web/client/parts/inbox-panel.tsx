import { VerdictMark } from "./notices.tsx";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { InboxItem } from "../../../core/projections/inbox.ts";
import { mayAct, now } from "../overview-store.ts";
import { elapsed, moment, sentence } from "../format.ts";
import { useAct } from "../use-resource.ts";
import { ActButton, ActOutcome } from "./act-button.tsx";

export function InboxPanel({ items }: { readonly items: readonly InboxItem[] }) {
  const title = useRef<HTMLHeadingElement>(null);
  const before = useRef(items.length);
  useEffect(() => {
    const isLess = items.length < before.current;
    before.current = items.length;
    // Whoever answered by keyboard goes on from here: what had the focus is gone.
    if (isLess && document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, [items.length]);
  return (
    <section class="panel inbox" aria-labelledby="inbox-title">
      <h2 id="inbox-title" ref={title} tabIndex={-1}>
        Waits for you <span class="badge">{items.length}</span>
      </h2>
      <ul class="inbox-items">
        {items.map((item) => (
          <li key={`${item.task} ${item.kind} ${item.text}`} class={`inbox-item is-${item.kind}`}>
            {item.kind === "decide" ? <Question item={item} /> : <Blocked item={item} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Question({ item }: { readonly item: InboxItem }) {
  const acting = useAct();
  const [answer, setAnswer] = useState("");
  const field = useId();
  const decide = (text: string): void => {
    void acting.run({ do: "decide", task: item.task, answer: text });
  };
  return (
    <>
      <p class="inbox-about">
        <VerdictMark verdict="decide" label={`${item.task} asks`} /> <Deadline item={item} />
      </p>
      <p class="inbox-text">
        {item.text}{" "}
        {item.iteration !== null && <a href={`/iterations/${item.iteration}`}>Iteration {item.iteration}</a>}
      </p>
      {mayAct.value && (
        <>
          {item.options.length > 0 && (
            <div class="choices" role="group" aria-label={`Answers for ${item.task}`}>
              {item.options.map((option) => (
                <button
                  key={option}
                  type="button"
                  class={option === item.default ? "primary" : "plain"}
                  disabled={acting.isBusy}
                  onClick={() => decide(option)}
                >
                  {option}
                  {option === item.default && <small> default</small>}
                </button>
              ))}
            </div>
          )}
          <form
            class="line-form"
            onSubmit={(event) => {
              event.preventDefault();
              decide(answer);
            }}
          >
            <label for={field} class="unseen">
              Answer {item.task} in your own words
            </label>
            <input
              id={field}
              value={answer}
              placeholder={item.options.length > 0 ? "or in your own words" : "your answer"}
              onInput={(event) => setAnswer(event.currentTarget.value)}
            />
            <button type="submit" disabled={acting.isBusy}>
              Answer
            </button>
          </form>
        </>
      )}
      <ActOutcome acting={acting} />
    </>
  );
}

function Deadline({ item }: { readonly item: InboxItem }) {
  if (item.deadline === null) {
    return <span class="muted">no deadline{item.default === null ? "" : `, default ${item.default}`}</span>;
  }
  const at = Date.parse(item.deadline);
  const left = at - now.value;
  const what = item.default === null ? "deadline" : `“${item.default}” is taken`;
  return (
    <span class="muted">
      {what} {left > 0 ? `in ${elapsed(left)}` : "now"} ({moment(at, now.value)})
    </span>
  );
}

function Blocked({ item }: { readonly item: InboxItem }) {
  const acting = useAct();
  const [reason, setReason] = useState("");
  const field = useId();
  const unblock = (): void => {
    void acting.run({ do: "unblock", task: item.task, reason });
  };
  return (
    <>
      <p class="inbox-about">
        <VerdictMark verdict="blocked" label={`${item.task} is blocked`} />
      </p>
      <p class="inbox-text">{sentence(item.text)}</p>
      {mayAct.value && (
        <form
          class="line-form"
          onSubmit={(event) => {
            event.preventDefault();
            unblock();
          }}
        >
          <label for={field} class="unseen">
            Why {item.task} is no longer blocked
          </label>
          <input
            id={field}
            value={reason}
            placeholder="what has changed"
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <ActButton label="Unblock" about={item.task} kind="primary" onAct={unblock} />
        </form>
      )}
      <ActOutcome acting={acting} />
    </>
  );
}
