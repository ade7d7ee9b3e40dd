import { basename } from "node:path";
import { readProgress } from "./adapters/files/progress-file.ts";
import { driverOf, hasLog, openLog, type Project } from "./compose.ts";
import type { Log } from "./engine/ports.ts";
import type { ScreenPorts } from "./engine/watch-project.ts";

export interface ScreenParts {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly mayAct: boolean;
  readonly lines: ScreenPorts["lines"];
}

export interface Screen {
  readonly ports: ScreenPorts;
  close(): Promise<void>;
}

/** What a screen looks at. It creates nothing: the log is opened when a run has made one. */
export function openScreen({ project, env, mayAct, lines }: ScreenParts): Screen {
  let log: Log | null = null;
  return {
    ports: {
      project: basename(project.root),
      mayAct,
      log: () => {
        if (log === null && hasLog(project)) ({ log } = openLog(project, env));
        return log;
      },
      isDriven: () => driverOf(project) !== null,
      progress: () => readProgress(project.ralphDir),
      lines,
      now: Date.now,
    },
    close: async () => log?.close(),
  };
}
