import { statSync } from "node:fs";
import { basename } from "node:path";
import { transcriptFile } from "./adapters/files/iteration-texts.ts";
import { readProgress } from "./adapters/files/progress-file.ts";
import { driverOf, openLog, type Project } from "./compose.ts";
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
  let file: string | null = null;
  return {
    ports: {
      project: basename(project.root),
      mayAct,
      log: () => {
        const there = identityOf(project.stateFile);
        if (there === file) return log;
        // It was removed, or set aside for another: what is still open is no longer the project's.
        void log?.close();
        log = null;
        file = null;
        if (there === null) return null;
        ({ log } = openLog(project, env));
        file = identityOf(project.stateFile);
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

/** The file with what an agent printed; null when there is none. */
export function transcriptOf({ ralphDir }: Project, iteration: number): string | null {
  return transcriptFile(ralphDir, iteration);
}

/** Of the file itself, whatever its name; null when there is none. */
function identityOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}
