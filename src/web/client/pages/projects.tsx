import { useEffect, useState } from "preact/hooks";
import type { ProjectEntry } from "../../api.ts";
import { get, type Problem } from "../api-client.ts";
import { dollars, moment, sentence } from "../format.ts";
import { Empty, Loading, Trouble, VerdictMark } from "../parts/notices.tsx";

const LOOK_MS = 3_000;

/** All projects of this machine; a link opens the page of one. */
export function ProjectsPage() {
  const [projects, setProjects] = useState<readonly ProjectEntry[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const look = async (): Promise<void> => {
      const answer = await get<readonly ProjectEntry[]>("/api/projects");
      setProblem(answer.is === "ok" ? null : answer.problem);
      if (answer.is === "ok") setProjects(answer.value);
    };
    void look();
    const timer = setInterval(() => {
      if (!document.hidden) void look();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main id="main" class="page">
      <h1 class="page-title">Projects</h1>
      {problem !== null && <Trouble problem={problem} />}
      {projects === null && problem === null && <Loading />}
      {projects?.length === 0 && (
        <Empty title="No run has begun on this machine yet" command="ralph run">
          A project comes here with its first run.
        </Empty>
      )}
      <ul class="projects">
        {projects?.map((project) => (
          <li key={project.key} class="panel project">
            <Project project={project} />
          </li>
        ))}
      </ul>
    </main>
  );
}

function Project({ project: { key, name, root, status, problem } }: { readonly project: ProjectEntry }) {
  return (
    <>
      <h2>
        <a href={`/open/${key}`}>{name}</a>
        {status !== null && status.inbox.length > 0 && (
          <span class="badge">{status.inbox.length} for you</span>
        )}
      </h2>
      <p class="muted">{root}</p>
      {problem !== null && <p class="outcome is-bad">✗ {sentence(problem)}</p>}
      {status !== null && <Standing status={status} />}
    </>
  );
}

function Standing({
  status: { run, tasks, cost },
}: {
  readonly status: NonNullable<ProjectEntry["status"]>;
}) {
  const amount = (...wanted: readonly string[]): number =>
    tasks.filter((task) => wanted.includes(task.status)).length;
  const waiting = amount("blocked", "undecided", "review", "failed", "cancelled");
  const facts: readonly (readonly [name: string, value: string])[] = [
    ["Done", `${amount("done")}/${tasks.length}`],
    ["At work", String(amount("doing"))],
    ["Held up", String(waiting)],
    ["Cost", dollars(cost.usd)],
    ["Began", run === null ? "–" : moment(Date.parse(run.started_at), Date.now())],
  ];
  return (
    <>
      <p>{run === null ? "No run yet" : <RunMark run={run} />}</p>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

type Run = NonNullable<NonNullable<ProjectEntry["status"]>["run"]>;

function RunMark({ run }: { readonly run: Run }) {
  if (run.interrupted) return <VerdictMark verdict="failed" label="interrupted" />;
  if (run.paused && run.state !== "ended") return <VerdictMark verdict="decide" label="paused" />;
  if (run.state === "running") return <VerdictMark verdict={null} />;
  if (run.state === "waiting") return <VerdictMark verdict="decide" label="waiting" />;
  return (
    <VerdictMark
      verdict={run.outcome === "completed" ? "accepted" : "rejected"}
      label={run.outcome ?? "ended"}
    />
  );
}
