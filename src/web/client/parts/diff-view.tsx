import { Fragment } from "preact";
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
      <ChangedFiles files={files} more={diff?.more ?? 0} />
    </section>
  );
}

/** What a person says about a line, for the agent. */
export interface LineComment {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

interface Comments {
  readonly comments?: readonly LineComment[];
  /** Null: lines cannot be commented on. */
  readonly onComment?: ((comments: readonly LineComment[]) => void) | null;
}

export function ChangedFiles({
  files,
  more,
  ...commenting
}: { readonly files: readonly File[]; readonly more: number } & Comments) {
  return (
    <>
      {files.map((file, index) => (
        <FileDiff key={file.path} file={file} isFirst={index < 5} {...commenting} />
      ))}
      {more > 0 && <p class="muted">{count(more, "more file")} are left out here; git has them.</p>}
    </>
  );
}

function FileDiff({
  file,
  isFirst,
  comments = [],
  onComment = null,
}: { readonly file: File; readonly isFirst: boolean } & Comments) {
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
              <CodeLines
                path={file.path}
                lines={lines.slice(0, shown)}
                comments={comments}
                onComment={onComment}
              />
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

interface CodeLinesProps extends Required<Comments> {
  readonly path: string;
  readonly lines: readonly DiffLine[];
}

/** Each line with the comments on it, and where one is asked for a field to write it. */
function CodeLines({ path, lines, comments, onComment }: CodeLinesProps) {
  const [asked, ask] = useState<number | null>(null);
  const own = comments.filter((comment) => comment.path === path);
  return lines.map((line, index) => (
    <Fragment key={index}>
      <CodeLine line={line} onAsk={onComment === null ? null : ask} />
      {own
        .filter((comment) => isAt(line, comment.line))
        .map((comment) => (
          <CommentRow
            key={comment.text}
            text={comment.text}
            onRemove={() => onComment?.(comments.filter((other) => other !== comment))}
          />
        ))}
      {asked !== null && isAt(line, asked) && (
        <CommentForm
          about={`${path}:${asked}`}
          onDone={(text) => {
            ask(null);
            if (text !== "") onComment?.([...comments, { path, line: asked, text }]);
          }}
        />
      )}
    </Fragment>
  ));
}

/** Removed lines have no number in the file as it is now. */
function isAt(line: DiffLine, at: number): boolean {
  return line.is !== "removed" && line.new === at;
}

function CommentRow({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }) {
  return (
    <tr class="line is-comment">
      <td colSpan={3}>
        <span class="comment">{text}</span>{" "}
        <button type="button" class="quiet small" onClick={onRemove}>
          Remove
        </button>
      </td>
    </tr>
  );
}

function CommentForm({ about, onDone }: { readonly about: string; readonly onDone: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <tr class="line is-comment">
      <td colSpan={3}>
        <form
          class="line-form"
          onSubmit={(event) => {
            event.preventDefault();
            onDone(text.trim());
          }}
        >
          <input
            autofocus
            aria-label={`Comment on ${about}`}
            placeholder={`what should change at ${about}`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") onDone("");
            }}
          />
          <button type="submit">Comment</button>
        </form>
      </td>
    </tr>
  );
}

function CodeLine({
  line,
  onAsk,
}: {
  readonly line: DiffLine;
  readonly onAsk: ((at: number) => void) | null;
}) {
  if (line.is === "place" || line.is === "note") {
    return (
      <tr class="line is-place">
        <td colSpan={3}>{line.text}</td>
      </tr>
    );
  }
  return (
    <tr class={`line is-${line.is}`}>
      <td class="line-number">
        {onAsk === null || line.is === "removed" || line.new == null ? (
          (line.new ?? line.old)
        ) : (
          <button
            type="button"
            class="line-comment"
            aria-label={`Comment on line ${line.new}`}
            onClick={() => onAsk(line.new ?? 0)}
          >
            {line.new}
          </button>
        )}
      </td>
      <td class="line-mark">{MARKS[line.is]}</td>
      <td class="line-text">{line.text}</td>
    </tr>
  );
}
