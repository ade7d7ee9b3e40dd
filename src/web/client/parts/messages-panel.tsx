import type { Overview } from "../../../core/projections/overview.ts";
import { now } from "../clock.ts";
import { moment } from "../format.ts";
import { SteerForm } from "./steer-form.tsx";

/** What the operator has said and no agent has worked from, and a field to say more. */
export function MessagesPanel({ overview }: { readonly overview: Overview }) {
  const { messages } = overview.status;
  if (!overview.mayAct && messages.length === 0) return null;
  return (
    <section class="panel messages" aria-labelledby="messages-title">
      <h2 id="messages-title">Messages</h2>
      {messages.length > 0 && (
        <ul>
          {messages.map(({ id, task, text, given_at: at, state }) => (
            <li key={id}>
              <span class="muted">
                {moment(Date.parse(at), now.value)} to {task ?? "whoever is next"},{" "}
                {state === "working" ? "an agent has it" : "waits"}
              </span>
              <span class="message-text">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {overview.mayAct && <SteerForm task={null} />}
    </section>
  );
}
