import { VerdictMark } from "./notices.tsx";
import { useEffect, useRef } from "preact/hooks";
import type { InboxItem } from "../../../core/views/inbox.ts";
import { mayAct, now } from "../overview-store.ts";
import { elapsed, moment, sentence } from "../format.ts";
import { useAct } from "../use-resource.ts";
import { ActOutcome, LineForm } from "./act-button.tsx";

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
  const decide = (answer: string) => ({ do: "decide", task: item.task, answer }) as const;
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
                  onClick={() => void acting.run(decide(option))}
                >
                  {option}
                  {option === item.default && <small> default</small>}
                </button>
              ))}
            </div>
          )}
          <LineForm
            label={`Answer ${item.task} in your own words`}
            hint={item.options.length > 0 ? "or in your own words" : "your answer"}
            button="Answer"
            acting={acting}
            actOf={decide}
          />
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
  return (
    <>
      <p class="inbox-about">
        <VerdictMark verdict="blocked" label={`${item.task} is blocked`} />
      </p>
      <p class="inbox-text">{sentence(item.text)}</p>
      {mayAct.value && (
        <LineForm
          label={`Why ${item.task} is no longer blocked`}
          hint="what has changed"
          button="Unblock"
          about={item.task}
          acting={acting}
          actOf={(reason) => ({ do: "unblock", task: item.task, reason })}
        />
      )}
      <ActOutcome acting={acting} />
    </>
  );
}
