import { randomUUID } from "node:crypto";
import { openDatabase } from "../adapters/fleet/database.ts";
import { createRemote, headRef } from "../adapters/fleet/remote.ts";
import { Jobs } from "../adapters/fleet/jobs.ts";
import { migrate } from "../adapters/fleet/schema.ts";
import { contains } from "../adapters/git/git.ts";
import { resolveCommit } from "../adapters/git/read-head.ts";
import { redactingSource } from "../adapters/tasks/redacting-source.ts";
import { RalphError } from "../core/errors.ts";
import type { Submission } from "../core/loop/submission.ts";
import { createRedactor, withoutOwnSecrets } from "../core/redact.ts";
import type { Settings } from "../core/settings.ts";
import type { State } from "../core/state.ts";
import { asArgument } from "../core/text.ts";
import { submit } from "../engine/operator.ts";
import { workspaceOf } from "./git-parts.ts";
import type { Prepared } from "./prepare-run.ts";
import { type Project, type Queue, requireQueue, secretsOf } from "./project.ts";
import { withLog } from "./project-log.ts";

/** More than there will ever be machines for; each worker has its own number. */
const SHARED_LANES = 1_000;

interface SubmitOptions {
  /** Of the command line. */
  readonly model: string | undefined;
  readonly version: string;
}

/** Puts the source's tasks into the shared queue. */
export async function submitTasks(
  { project, source, commands, settings }: Prepared,
  { model, version }: SubmitOptions,
): Promise<{ readonly submission: Submission; readonly state: State }> {
  await makeTables(requireQueue(project, "submit"));
  const plan = await redactingSource(source, createRedactor(secretsOf(project, commands))).observe();
  const { base, head } = await sharedBaseOf(project);
  const merge = settings.worktrees?.merge ?? "squash";
  // What agents run in is each worker's own business.
  const { sandbox: _, ...rest } = settings;
  const shared: Settings = {
    ...rest,
    shared: true,
    lanes: SHARED_LANES,
    keepGoing: true,
    worktrees: { base, merge },
  };
  const submitted = {
    run: randomUUID(),
    settings: { ...shared, ...(model !== undefined && { model }) },
    plan,
    pid: process.pid,
    version,
    head,
  };
  const done = await withLog(project, (log) => submit(log, submitted, Date.now), commands);
  if (done.submission.is !== "refused") return done;
  const busyWith = done.submission.run.settings.source.label;
  const { label } = source.identity;
  throw new RalphError("usage", `the workers are busy with ${busyWith}, so ${label} has to wait`, {
    hint: "see how far they are: ralph status; or end that first: ralph stop",
  });
}

/** Everything that workers need in the database; they may have no right to make it themselves. */
async function makeTables({ url }: Queue): Promise<void> {
  const database = await openDatabase(url);
  try {
    await migrate(database);
    await (await Jobs.open(database)).close();
  } finally {
    await database.close();
  }
}

/** The branch that is checked out, and the commit of it on the remote: workers begin there. */
async function sharedBaseOf(project: Project): Promise<{ readonly base: string; readonly head: string }> {
  const { branch: base } = await workspaceOf(project).snapshot();
  if (base === null)
    throw new RalphError("usage", "workers need a branch to begin from, and none is checked out", {
      hint: "check out the branch that the work is for: git switch main",
    });
  const remote = createRemote({
    root: project.root,
    env: withoutOwnSecrets(project.env),
    base,
    onTrouble: () => {},
  });
  const { git, remoteName } = await remote.clone();
  const head = await remote.fetch(headRef(base), null);
  if (head === null)
    throw new RalphError(
      "usage",
      `the remote ${remoteName} has no branch ${base}, so workers cannot begin from it`,
      {
        hint: `git push -u ${asArgument(remoteName)} ${asArgument(base)}`,
      },
    );
  const here = await resolveCommit(git, `refs/heads/${base}`);
  const isBehind = here !== null && !(await contains(git, head, here));
  if (isBehind)
    project.say(
      `${base} has commits that ${remoteName} does not have: workers begin without them until you push`,
    );
  return { base, head };
}
