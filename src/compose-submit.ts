import { asArgument } from "./core/text.ts";
import { createExchange, headRef } from "./adapters/exchange/exchange.ts";
import { contains } from "./adapters/git/git.ts";
import { resolveCommit } from "./adapters/git/read-head.ts";
import { openDatabase } from "./adapters/postgres/database.ts";
import { Jobs } from "./adapters/postgres/jobs.ts";
import { migrate } from "./adapters/postgres/schema.ts";
import { redactingSource } from "./adapters/tasks/redacting-source.ts";
import { workspaceOf, type Project, type Queue } from "./compose.ts";
import { secretsOf } from "./compose-store.ts";
import type { Plan } from "./core/plan/task.ts";
import { RalphError } from "./core/ralph-error.ts";
import { createRedactor, withoutOwnSecrets } from "./core/redact.ts";
import type { Commands } from "./core/settings.ts";
import type { TaskSource } from "./engine/ports.ts";

/** The tasks as the log will show them. */
export function planFor(
  project: Project,
  source: TaskSource,
  env: NodeJS.ProcessEnv,
  commands: Commands,
): Promise<Plan> {
  return redactingSource(source, createRedactor(secretsOf(project, env, commands))).observe();
}

/** Everything that workers need in the database; they may have no right to make it themselves. */
export async function makeTables({ url }: Queue): Promise<void> {
  const database = await openDatabase(url);
  try {
    await migrate(database);
    await (await Jobs.open(database)).close();
  } finally {
    await database.close();
  }
}

export interface SharedBase {
  readonly base: string;
  /** Where the remote has it. */
  readonly head: string;
  /** What the person should know of it. */
  readonly notice: string | null;
}

/** The branch that is checked out, as the remote has it: from there on workers begin. */
export async function sharedBaseOf(project: Project, env: NodeJS.ProcessEnv): Promise<SharedBase> {
  const { branch: base } = await workspaceOf(project).snapshot();
  if (base === null)
    throw new RalphError("usage", "workers need a branch to begin from, and none is checked out", {
      hint: "check out the branch that the work is for: git switch main",
    });
  const exchange = createExchange({
    root: project.root,
    env: withoutOwnSecrets(env),
    base,
    onTrouble: () => {},
  });
  const { git, remote } = await exchange.clone();
  const head = await exchange.fetch(headRef(base), null);
  if (head === null)
    throw new RalphError(
      "usage",
      `the remote ${remote} has no branch ${base}, so workers cannot begin from it`,
      {
        hint: `git push -u ${asArgument(remote)} ${asArgument(base)}`,
      },
    );
  const here = await resolveCommit(git, `refs/heads/${base}`);
  const isBehind = here !== null && !(await contains(git, head, here));
  const notice = isBehind
    ? `${base} has commits that ${remote} does not have: workers begin without them until you push`
    : null;
  return { base, head, notice };
}
