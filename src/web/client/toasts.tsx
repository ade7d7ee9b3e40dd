import { signal } from "@preact/signals";
import type { PageAct } from "../api.ts";
import { act, type Answer } from "./api-client.ts";
import { sentence } from "./format.ts";

/** What a person did, said at the edge of the page. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isGood: boolean;
  /** Takes it back; null: it is done. */
  readonly undo: (() => void) | null;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS = 6_000;
/** So long an act can be taken back: it is sent only then. */
const UNDO_MS = 5_000;
let lastId = 0;

export function toast(text: string, isGood = true): void {
  const { id } = add({ text, isGood, undo: null });
  setTimeout(() => drop(id), SHOWN_MS);
}

export interface Outcome {
  readonly isGood: boolean;
  readonly text: string;
}

/** Does it, after a while where it can be taken back. Null: it was taken back. */
export async function send(what: PageAct): Promise<Outcome | null> {
  const pending = inWords(what);
  if (pending !== null && !(await isLeftAlone(pending))) return null;
  const outcome = outcomeOf(await act(what), (acted) => ({
    isGood: acted.is === "done",
    text: acted.is === "done" ? acted.said : acted.why,
  }));
  if (outcome.isGood) toast(outcome.text);
  return outcome;
}

export function outcomeOf<T>(answer: Answer<T>, read: (value: T) => Outcome): Outcome {
  if (answer.is === "ok") return read(answer.value);
  const { message, hint } = answer.problem;
  return { isGood: false, text: hint === null ? message : `${sentence(message)} ${hint}` };
}

/** What was done, for acts that can wait a few seconds; null: this one is sent at once. */
export function inWords(what: PageAct): string | null {
  switch (what.do) {
    case "decide":
      return `${what.task} is answered: ${what.answer}`;
    case "approve":
      return `${what.task} is approved`;
    case "send-back":
      return `${what.task} is sent back`;
    case "unblock":
      return `${what.task} is unblocked`;
    case "skip":
      return what.undo === true ? `${what.task} is taken in again` : `${what.task} is skipped`;
    case "discard":
      return `The work of ${what.task} is dropped`;
    default:
      return null;
  }
}

const waiting = new Set<() => void>();

/** True after a while, or at once when the page goes away; false: it was taken back. */
function isLeftAlone(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isSent: boolean): void => {
      clearTimeout(timer);
      waiting.delete(go);
      drop(id);
      resolve(isSent);
    };
    const go = (): void => end(true);
    const { id } = add({ text, isGood: true, undo: () => end(false) });
    const timer = setTimeout(go, UNDO_MS);
    waiting.add(go);
  });
}

/** What is not taken back is done, also where the page is left. */
export function sendWhenLeaving(): void {
  const sendAll = (): void => {
    for (const go of waiting) go();
  };
  addEventListener("pagehide", sendAll);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) sendAll();
  });
}

function add(about: Omit<Toast, "id">): Toast {
  const one = { ...about, id: (lastId += 1) };
  toasts.value = [...toasts.value, one];
  return one;
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, isGood, undo }) => (
        <p key={id} class={`toast ${isGood ? "" : "is-bad"}`}>
          <span>
            {undo === null && <span aria-hidden="true">{isGood ? "✔ " : "✗ "}</span>}
            {sentence(text)}
          </span>
          {undo !== null && (
            <button type="button" class="small" onClick={undo}>
              Take back
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
