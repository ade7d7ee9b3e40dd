import { VerdictMark } from "./notices.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import type { InboxItem } from "../../../core/views/inbox.ts";
import { mayAct, now } from "../overview-store.ts";
import { count, elapsed, moment, sentence } from "../format.ts";
import type { LineComment } from "./diff-view.tsx";
import { type Acting, useAct } from "../use-resource.ts";
import { ActOutcome, LineForm } from "./act-button.tsx";

interface InboxProps {
  readonly items: readonly InboxItem[];
  /** On lines of the change set; they go with what is sent back. */
  readonly comments?: readonly LineComment[];
  readonly onSent?: () => void;
}

/** What is settled keeps its place until the pointer leaves: no button moves under a finger. */
export function InboxPanel({ items, comments = [], onSent }: InboxProps) {
  const title = useRef<HTMLHeadingElement>(null);
  const before = useRef(items.length);
  const shown = useRef<readonly InboxItem[]>([]);
  const [isOver, setOver] = useState(false);
  const open = new Set(items.map(keyOf));
  const known = new Set(shown.current.map(keyOf));
  shown.current = [
    ...shown.current
      .filter((item) => isOver || open.has(keyOf(item)))
      .map((item) => items.find((one) => keyOf(one) === keyOf(item)) ?? item),
    ...items.filter((item) => !known.has(keyOf(item))),
  ];
  useEffect(() => {
    const isLess = items.length < before.current;
    before.current = items.length;
    // Whoever answered by keyboard goes on from here: what had the focus is gone.
    if (isLess && document.activeElement === document.body) title.current?.focus({ preventScroll: true });
  }, [items.length]);
  if (shown.current.length === 0) return null;
  return (
    <section
      class="panel inbox"
      aria-labelledby="inbox-title"
      onPointerEnter={({ pointerType }) => setOver(pointerType === "mouse")}
      onPointerLeave={() => setOver(false)}
    >
      <h2 id="inbox-title" ref={title} tabIndex={-1}>
        Waits for you <span class="badge">{items.length}</span>
      </h2>
      <ul class="inbox-items">
        {shown.current.map((item) => (
          <li key={keyOf(item)} class={`inbox-item is-${item.kind}`}>
            <Row item={item} isOpen={open.has(keyOf(item))} comments={comments} onSent={onSent} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function keyOf({ task, kind, text }: InboxItem): string {
  return `${task} ${kind} ${text}`;
}

interface RowProps extends ReviewProps {
  readonly isOpen: boolean;
}

/** What was typed stays there, in case the answer is taken back. */
function Row({ item, isOpen, comments, onSent }: RowProps) {
  const acting = useAct();
  const answered = acting.pending ?? (acting.outcome?.isGood === true ? acting.outcome.text : null);
  const settled = answered ?? (isOpen ? null : `${item.task} waits no longer`);
  const about = { item, acting };
  return (
    <>
      {settled !== null && (
        <p class="inbox-settled">
          <span aria-hidden="true">✔ </span>
          {sentence(settled)}
        </p>
      )}
      <div class="inbox-open" hidden={settled !== null}>
        {item.kind === "review" && <Review {...about} comments={comments} onSent={onSent} />}
        {item.kind === "decide" && <Question {...about} />}
        {item.kind === "blocked" && <Blocked {...about} />}
      </div>
    </>
  );
}

interface ItemProps {
  readonly item: InboxItem;
  readonly acting: Acting;
}

interface ReviewProps {
  readonly item: InboxItem;
  readonly comments: readonly LineComment[];
  readonly onSent: (() => void) | undefined;
}

function Review({ item: { task }, acting, comments, onSent }: ReviewProps & ItemProps) {
  const listed = comments.map(({ path, line, text }) => `${path}:${line}: ${text}`);
  const sendBack = (words: string) => {
    const said = [...(words.trim() === "" ? [] : [words]), ...listed];
    return {
      do: "send-back",
      task,
      words: said.length === 1 ? said.join() : said.map((one) => `- ${one}`).join("\n"),
    } as const;
  };
  return (
    <>
      <p class="inbox-about">
        <VerdictMark verdict="decide" label={`${task} waits for your approval`} />
      </p>
      <p class="inbox-text">
        Its work is accepted. <a href={`/tasks/${encodeURIComponent(task)}`}>Look at the change</a>, then
        approve it or send it back.
      </p>
      {mayAct.value && (
        <>
          <div class="choices" role="group" aria-label={`Approval of ${task}`}>
            <button
              type="button"
              class="primary"
              disabled={acting.isBusy}
              onClick={() => void acting.run({ do: "approve", task })}
            >
              Approve
            </button>
          </div>
          <LineForm
            label={`What should change in ${task}`}
            hint={listed.length === 0 ? "what should change" : `${count(listed.length, "comment")}, and more`}
            button="Send back"
            about={task}
            acting={acting}
            actOf={sendBack}
            {...(onSent && { onDone: onSent })}
          />
        </>
      )}
      <ActOutcome acting={acting} />
    </>
  );
}

function Question({ item, acting }: ItemProps) {
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

function Blocked({ item, acting }: ItemProps) {
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
