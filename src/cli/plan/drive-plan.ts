import { relative } from "node:path";
import {
  agentsOf,
  keepAwakeOf,
  lastTranscriptOf,
  watchTree,
  workspaceOf,
  type Project,
} from "../../compose.ts";
import type { AgentSettings, SandboxSettings, Settings } from "../../core/settings.ts";
import type { CliContext } from "../commands.ts";
import { makePlan, type Attempt } from "./make-plan.ts";
import type { PlanFiles } from "./plan-files.ts";
import { attemptLines } from "./plan-lines.ts";
import { planMarker } from "./plan-marker.ts";
import type { PlanReport } from "./plan-report.ts";
import { planScreen } from "./plan-screen.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

export interface PlanDrive {
  readonly project: Project;
  readonly settings: Settings;
  readonly sandbox: SandboxSettings | null;
  readonly agent: AgentSettings;
  readonly files: PlanFiles;
  readonly attempts: number;
  readonly asJson: boolean;
  readonly context: CliContext;
}

/** Agents at work until there is a plan, or everything is as it was. Whoever calls has the project's lock. */
export async function drivePlan(drive: PlanDrive): Promise<Omit<PlanReport, "run" | "again">> {
  const { project, agent, files } = drive;
  let made: readonly Attempt[] = [];
  let draft: string | null = null;
  try {
    files.keepOld();
    made = await letAgentsTry(drive);
  } finally {
    const last = made.at(-1);
    if (last?.outcome.is !== "planned") draft = files.giveUp(last?.report.transcript.path ?? null);
  }
  return {
    prdPath: files.prdPath,
    planPath: files.planPath,
    logs: relative(project.root, project.ralphDir),
    agent: agent.name,
    attempts: made,
    outcome: made.at(-1)?.outcome ?? { is: "stopped" },
    backup: files.backup,
    draft,
  };
}

async function letAgentsTry(drive: PlanDrive): Promise<readonly Attempt[]> {
  const { project, agent, files, attempts, settings, context } = drive;
  const screen = planScreen(context, drive.asJson);
  const keepAwake = keepAwakeOf(context);
  const { env, version } = context;
  const workspace = workspaceOf(project);
  const agents = agentsOf(
    {
      project,
      transcripts: "plan",
      onProgress: screen.progress,
      onAgentStart: () => keepAwake.hold(),
      ...(context.verbose && { onOutput: screen.output }),
      env,
      version,
      sandbox: drive.sandbox,
    },
    () => workspace,
  );
  const marker = planMarker(project);
  const stop = stopOnSignal(context.stderr, async () => {
    await agents.sweep(marker);
    files.putBackPrd(null);
    files.giveUp(null);
  });
  try {
    screen.line(`ralph plan · ${files.prdPath} → ${files.planPath} · ${agent.name}`);
    const changes = await watchTree(project, files.own);
    return await makePlan({
      agents,
      agent,
      settings,
      files,
      attempts,
      lastNumber: lastTranscriptOf(project, "plan"),
      marker,
      changes,
      signal: stop.signal,
      onAttempt: (attempt, waitMs) => {
        for (const line of attemptLines(attempt, { attempts, prdPath: files.prdPath, waitMs }))
          screen.line(`  ${line}`);
      },
    });
  } finally {
    stop.release();
    keepAwake.release();
    screen.rest();
  }
}
