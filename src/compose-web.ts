import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createIterationTexts } from "./adapters/files/iteration-texts.ts";
import { openRepository } from "./adapters/git/find-repository.ts";
import { ownRoot } from "./adapters/system/own-root.ts";
import { readDiff } from "./adapters/workspace/read-diff.ts";
import { isElsewhere, openScreen, type ScreenParts } from "./compose-screens.ts";
import { allSecretsOf } from "./compose-store.ts";
import { createRedactor } from "./core/redact.ts";
import type { WebPorts } from "./web/web-ports.ts";

export interface WebScreen {
  readonly ports: WebPorts;
  close(): Promise<void>;
}

/** What the server of the page looks at; secrets of the environment and the configuration are in none of it. */
export async function openWebScreen(
  parts: ScreenParts,
  refreshStatus: () => Promise<void>,
): Promise<WebScreen> {
  const { project, env } = parts;
  const screen = openScreen(parts);
  const redact = createRedactor(await allSecretsOf(project, env));
  const folder = join(ownRoot(import.meta.dirname), "dist", "web");
  return {
    ...screen,
    ports: {
      ...screen.ports,
      isElsewhere: (worker) => isElsewhere(project, worker),
      texts: createIterationTexts(project.ralphDir, redact),
      diff: async (commits) => readDiff((await openRepository(project.root)).git, commits, redact),
      pageFile: (name) => readFile(join(folder, name)).catch(() => null),
      refreshStatus,
    },
  };
}
