import { useState } from "preact/hooks";
import type { CheckedCriterion } from "../../../core/verdict/certificate.ts";
import { TASK_SIGNS } from "../../../core/views/signs.ts";
import type { TaskDetail, TaskDiff } from "../../api.ts";
import { count, dollars, duration, sentence } from "../format.ts";
import { mayAct, overview } from "../overview-store.ts";
import { ActButton, ActOutcome, SteerForm } from "../parts/act-button.tsx";
import { ChangedFiles, type LineComment } from "../parts/diff-view.tsx";
import { InboxPanel } from "../parts/inbox-panel.tsx";
import { Loading, Trouble, VerdictMark } from "../parts/notices.tsx";
import { TitleForm } from "../parts/start-panel.tsx";
import { useAct, useResource } from "../use-resource.ts";
import { FactsPanel, GateList } from "./iteration.tsx";

/** Everything about one task: what it wants, what was tried, what was changed, and what a person can do about it. */
export function TaskPage({ id }: { readonly id: string }) {
  const path = `/api/tasks/${encodeURIComponent(id)}`;
  const { value, problem } = useResource<TaskDetail>(path, (facts) => facts.tasks.includes(id));
  const diff = useResource<TaskDiff>(`${path}/diff`, (facts) => facts.tasks.includes(id));
  const [comments, setComments] = useState<readonly LineComment[]>([]);
  const detail = value.value;
  if (detail === undefined) return problem.value === null ? <Loading /> : <Trouble problem={problem.value} />;
  const waits = overview.value?.status.inbox.filter(({ task }) => task === id) ?? [];
  const files = diff.value.value?.files ?? [];
  const comment = detail.status === "review" && mayAct.value ? setComments : null;
  return (
    <>
      <Title detail={detail} />
      <InboxPanel items={waits} comments={comments} onSent={() => setComments([])} />
      <div class="iteration-layout">
        <div class="iteration-side">
          {mayAct.value && <Acts detail={detail} />}
          {(detail.description !== "" || detail.criteria.length > 0) && <Wanted detail={detail} />}
          <Story detail={detail} />
          {detail.panels.map((panel) => (
            <FactsPanel key={panel.title} panel={panel} />
          ))}
          {detail.gates.length > 0 && <GateList gates={detail.gates} />}
        </div>
        <div class="iteration-main">
          <section class="panel diff" aria-labelledby="diff-title">
            <h2 id="diff-title">
              Changes <span class="muted">{count(files.length + (diff.value.value?.more ?? 0), "file")}</span>
            </h2>
            {diff.value.value?.where != null && <p class="muted">{sentence(diff.value.value.where)}</p>}
            {comment !== null && files.length > 0 && (
              <p class="muted">Click a line to comment on it. Comments go with “Send back”.</p>
            )}
            {diff.problem.value !== null && <Trouble problem={diff.problem.value} />}
            {diff.value.value !== undefined && files.length === 0 && (
              <p class="muted">Nothing was changed.</p>
            )}
            <ChangedFiles
              files={files}
              more={diff.value.value?.more ?? 0}
              comments={comments}
              onComment={comment}
            />
          </section>
        </div>
      </div>
    </>
  );
}

function Title({ detail }: { readonly detail: TaskDetail }) {
  const { id, status, headline, next, agent, iterations, costUsd, workedMs } = detail;
  const [isEditing, edit] = useState(false);
  const [written, write] = useState<string | null>(null);
  const [saved, save] = useState<string | null>(null);
  const title = saved ?? detail.title;
  const facts: readonly (readonly [name: string, value: string])[] = [
    ["Status", status === null ? "not in the list" : status],
    ["Agent", agent ?? "–"],
    ["Iterations", String(iterations)],
    ["Worked", duration(workedMs)],
    ["Cost", dollars(costUsd)],
  ];
  return (
    <div class="title-bar">
      <p class="crumbs">
        <a href="/">Board</a> <span aria-hidden="true">/</span> <span>{id}</span>
      </p>
      <h1 class="page-title">
        {status !== null && (
          <span class={`task-sign is-${TASK_SIGNS[status].look}`} aria-hidden="true">
            {TASK_SIGNS[status].sign}
          </span>
        )}{" "}
        {title === "" ? id : title}
        {mayAct.value && status !== null && (
          <button
            type="button"
            class="quiet small"
            aria-expanded={isEditing}
            onClick={() => edit(!isEditing)}
          >
            Edit title
          </button>
        )}
      </h1>
      {isEditing && (
        <TitleForm
          label={`Title of ${id}`}
          button="Save"
          title={written ?? title}
          onTitle={write}
          path={`/api/tasks/${encodeURIComponent(id)}/title`}
          onDone={() => {
            save(written);
            edit(false);
          }}
        />
      )}
      <p class="task-headline">
        {sentence(headline)} {next !== null && <CopyCommand command={next} />}
      </p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A command to type, which a click copies. */
function CopyCommand({ command }: { readonly command: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      class="quiet small"
      title="Copy"
      onClick={() =>
        void navigator.clipboard?.writeText(command).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      }
    >
      <code>{command}</code> {isCopied ? "copied" : "copy"}
    </button>
  );
}

function Acts({ detail: { id, status } }: { readonly detail: TaskDetail }) {
  const acting = useAct();
  const isUnderWay = overview.value?.lanes.some(({ work }) => work?.task === id) ?? false;
  const hasWork =
    status === "review" || status === "blocked" || status === "undecided" || status === "failed";
  return (
    <section class="panel" aria-labelledby="acts-title">
      <h2 id="acts-title">Actions</h2>
      <div class="card-buttons">
        {isUnderWay && (
          <ActButton
            label="Cancel"
            about={id}
            confirm={`End the agent of ${id}?`}
            onAct={() => void acting.run({ do: "cancel", task: id })}
          />
        )}
        {status === "skipped" ? (
          <ActButton
            label="Take in again"
            onAct={() => void acting.run({ do: "skip", task: id, undo: true })}
          />
        ) : (
          status !== "done" && (
            <ActButton
              label="Skip"
              about={id}
              confirm={`No run works on ${id}?`}
              onAct={() => void acting.run({ do: "skip", task: id })}
            />
          )
        )}
        {hasWork && (
          <ActButton
            label="Discard the work"
            kind="danger"
            confirm={`Drop the work of ${id}?`}
            onAct={() => void acting.run({ do: "discard", task: id })}
          />
        )}
        {status === "done" && (
          <ActButton
            label="Undo"
            about={id}
            kind="danger"
            confirm={`Take the accepted work of ${id} back, by a commit?`}
            onAct={() => void acting.run({ do: "undo", task: id })}
          />
        )}
      </div>
      <ActOutcome acting={acting} />
      {status !== "done" && <SteerForm task={id} />}
    </section>
  );
}

const CHECKED_BY: Readonly<Record<CheckedCriterion["by"], string>> = {
  gate: "checked by a gate",
  reader: "checked by the second reader",
  person: "checked by a person",
  nobody: "checked by nobody",
};

function Wanted({ detail: { description, criteria } }: { readonly detail: TaskDetail }) {
  return (
    <section class="panel" aria-labelledby="wanted-title">
      <h2 id="wanted-title">What is wanted</h2>
      {description !== "" && <p class="task-description">{description}</p>}
      <ul class="criteria">
        {criteria.map(({ text, by }) => (
          <li key={text}>
            {text}
            {by !== null && <span class={by === "nobody" ? "unchecked" : "muted"}> · {CHECKED_BY[by]}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Story({ detail: { steps } }: { readonly detail: TaskDetail }) {
  return (
    <section class="panel" aria-labelledby="story-title">
      <h2 id="story-title">What happened</h2>
      {steps.length === 0 && <p class="muted">Nothing yet.</p>}
      <ol class="story">
        {steps.map(({ iteration, verdict, text }, at) => (
          <li key={`${iteration} ${at}`}>
            {iteration !== null && (
              <a href={`/iterations/${iteration}`}>
                <VerdictMark verdict={verdict} label={`Iteration ${iteration}`} />
              </a>
            )}{" "}
            {sentence(text)}
          </li>
        ))}
      </ol>
    </section>
  );
}
