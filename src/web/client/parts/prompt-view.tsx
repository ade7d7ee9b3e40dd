import { useState } from "preact/hooks";
import type { TextPage } from "../../api.ts";
import { get, withQuery, type Problem } from "../api-client.ts";
import { bytes } from "../format.ts";
import { Loading, Trouble } from "./notices.tsx";

const PAGE_BYTES = 64_000;

/** What the agent was told; fetched when somebody wants to see it. */
export function PromptView({ iteration }: { readonly iteration: number }) {
  const [pages, setPages] = useState<readonly TextPage[]>([]);
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async (from: number): Promise<void> => {
    const path = withQuery(`/api/iterations/${iteration}/prompt`, { from, limit: PAGE_BYTES });
    const answer = await get<TextPage>(path);
    if (answer.is === "problem") setProblem(answer.problem);
    else setPages((known) => [...known, answer.value]);
  };
  const last = pages.at(-1);
  const left = last === undefined ? 0 : last.bytes - last.to;
  return (
    <details
      class="panel prompt"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open && pages.length === 0) void load(0);
      }}
    >
      <summary>
        <h2>Prompt</h2>
      </summary>
      {problem !== null && <Trouble problem={problem} />}
      {isOpen && problem === null && last === undefined && <Loading />}
      {last !== undefined && (
        <pre tabIndex={0} aria-label="Prompt">
          {pages.map(({ text }) => text).join("")}
        </pre>
      )}
      {last !== undefined && left > 0 && last.to > last.from && (
        <button type="button" class="quiet more" onClick={() => void load(last.to)}>
          {bytes(left)} more
        </button>
      )}
    </details>
  );
}
