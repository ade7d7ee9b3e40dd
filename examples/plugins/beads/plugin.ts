// The issues of Beads, one a line in `.beads/issues.jsonl`, worked on where they lie and closed there.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin, type SourceContext } from "ralph";

interface Issue {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  readonly acceptance_criteria?: string;
  readonly status?: string;
  readonly priority?: number;
  readonly dependencies?: readonly { readonly depends_on_id: string; readonly type: string }[];
}

/** Nobody works on these, nor waits for them. */
const SET_ASIDE = ["tombstone", "deferred", "pinned"];

const place = ({ root }: SourceContext): string => join(root, ".beads", "issues.jsonl");
const isIssue = (line: string): boolean => line.trim() !== "";
const issueIn = (line: string): Issue => JSON.parse(line) as Issue;

function setStatus(id: string, closedAt: string | undefined, context: SourceContext): void {
  const changed = readFileSync(place(context), "utf8")
    .split("\n")
    .map((line) => {
      if (!isIssue(line) || issueIn(line).id !== id) return line;
      const status = closedAt === undefined ? "open" : "closed";
      return JSON.stringify({ ...issueIn(line), status, closed_at: closedAt });
    });
  writeFileSync(place(context), changed.join("\n"));
}

export default definePlugin({
  apiVersion: 1,
  name: "beads",
  sources: {
    beads: {
      observe(context) {
        const lines = readFileSync(place(context), "utf8").split("\n").filter(isIssue);
        const issues = lines.map(issueIn).filter(({ status = "open" }) => !SET_ASIDE.includes(status));
        const listed = new Set(issues.map(({ id }) => id));
        return issues.map(
          ({ id, title, description, acceptance_criteria, status, priority, dependencies = [] }) => ({
            id,
            title,
            description,
            criteria: (acceptance_criteria ?? "").split("\n").filter((line) => line.trim() !== ""),
            priority,
            dependsOn: dependencies
              .filter(({ type, depends_on_id }) => type === "blocks" && listed.has(depends_on_id))
              .map(({ depends_on_id }) => depends_on_id),
            done: status === "closed",
          }),
        );
      },
      mark: (id, context) => setStatus(id, new Date().toISOString(), context),
      unmark: (id, context) => setStatus(id, undefined, context),
    },
  },
});
