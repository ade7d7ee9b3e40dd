// Tasks from a ticket system. A file stands for it here; it would be a request to a server.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin, type SourceContext } from "ralph";

interface Ticket {
  readonly key: string;
  readonly summary: string;
  readonly state: "open" | "closed";
  readonly blockedBy?: readonly string[];
}

const place = ({ root }: SourceContext): string => join(root, ".ralph", "tickets.json");
const read = (context: SourceContext): readonly Ticket[] =>
  JSON.parse(readFileSync(place(context), "utf8")) as readonly Ticket[];

function setState(key: string, state: Ticket["state"], context: SourceContext): void {
  const tickets = read(context).map((ticket) => (ticket.key === key ? { ...ticket, state } : ticket));
  writeFileSync(place(context), `${JSON.stringify(tickets, null, 2)}\n`);
}

export default definePlugin({
  apiVersion: 1,
  name: "tickets",
  sources: {
    tickets: {
      observe: (context) =>
        read(context).map(({ key, summary, state, blockedBy = [] }) => ({
          id: key,
          title: summary,
          dependsOn: blockedBy,
          done: state === "closed",
        })),
      mark: (key, context) => setState(key, "closed", context),
      unmark: (key, context) => setState(key, "open", context),
    },
  },
});
