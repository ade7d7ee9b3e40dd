import { useMemo, useState } from "preact/hooks";
import type { DiffPage } from "../../api.ts";
import { type DiffLine, diffLines } from "../diff-lines.ts";
import { count } from "../format.ts";
import { useResource } from "../use-resource.ts";
import { Trouble } from "./notices.tsx";

type File = DiffPage["files"][number];

const SIGNS: Readonly<Record<File["status"], string>> = {
  added: "+",
  changed: "±",
  removed: "−",
  renamed: "→",
  binary: "□",
};
const OPEN_LINES = 120;
const SHOWN_LINES = 400;
const MARKS: Readonly<Record<DiffLine["is"], string>> = {
  added: "+",
  removed: "−",
  same: " ",
  place: "",
  note: "",
};

export function DiffView(props: { readonly iteration: number; readonly changedPaths: readonly string[] }) {
  const { iteration, changedPaths } = props;
  const { value, problem } = useResource<DiffPage>(`/api/iterations/${iteration}/diff`, (facts) =>
    facts.iterations.includes(iteration),
  );
  const diff = value.value;
  const files = diff?.files ?? [];
  return (
    <section class="panel diff" aria-labelledby="diff-title">
      <h2 id="diff-title">
        Change set <span class="muted">{count(files.length + (diff?.more ?? 0), "file")}</span>
      </h2>
      {problem.value !== null && <Trouble problem={problem.value} />}
      {problem.value !== null && changedPaths.length > 0 && (
        <ul class="paths">
          {changedPaths.map((path) => (
            <li key={path}>{path}</li>
          ))}
        </ul>
      )}
      {diff !== undefined && files.length === 0 && <p class="muted">Nothing was changed.</p>}
      {files.map((file, index) => (
        <FileDiff key={file.path} file={file} isFirst={index < 5} />
      ))}
      {diff !== undefined && diff.more > 0 && (
        <p class="muted">{count(diff.more, "more file")} are left out here; git has them.</p>
      )}
    </section>
  );
}

function FileDiff({ file, isFirst }: { readonly file: File; readonly isFirst: boolean }) {
  const lines = useMemo(
    () => (file.hunks === null || file.hunks === "" ? [] : diffLines(file.hunks)),
    [file.hunks],
  );
  const [isOpen, setOpen] = useState(isFirst && lines.length <= OPEN_LINES);
  const [shown, setShown] = useState(SHOWN_LINES);
  const added = lines.filter(({ is }) => is === "added").length;
  const removed = lines.filter(({ is }) => is === "removed").length;
  return (
    <details class="file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class={`file-sign is-${file.status}`} title={file.status}>
          {SIGNS[file.status]}
        </span>
        <span class="file-path">{file.path}</span>
        <span class="file-counts">
          {file.hunks === null ? (
            file.status === "binary" && "binary"
          ) : (
            <>
              <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
            </>
          )}
        </span>
      </summary>
      {file.hunks === null && file.status !== "binary" && (
        <p class="muted">It is too long to be shown here.</p>
      )}
      {isOpen && lines.length > 0 && (
        <div class="code-frame" tabIndex={0} role="region" aria-label={`Changes of ${file.path}`}>
          <table class="code">
            <tbody>
              {lines.slice(0, shown).map((line, index) => (
                <CodeLine key={index} line={line} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isOpen && lines.length > shown && (
        <button type="button" class="quiet more" onClick={() => setShown(shown + SHOWN_LINES * 5)}>
          {count(lines.length - shown, "more line")}
        </button>
      )}
    </details>
  );
}

function CodeLine({ line }: { readonly line: DiffLine }) {
  if (line.is === "place" || line.is === "note") {
    return (
      <tr class="line is-place">
        <td colSpan={3}>{line.text}</td>
      </tr>
    );
  }
  return (
    <tr class={`line is-${line.is}`}>
      <td class="line-number">{line.new ?? line.old}</td>
      <td class="line-mark">{MARKS[line.is]}</td>
      <td class="line-text">{line.text}</td>
    </tr>
  );
}
