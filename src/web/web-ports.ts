import type { ScreenPorts, TaskWork } from "../app/watch-project.ts";
import type { IterationTexts } from "../engine/ports.ts";
import type { State } from "../core/state.ts";
import type { DiffPage } from "./api.ts";

export interface WebPorts extends ScreenPorts {
  readonly texts: IterationTexts;
  /** Null when git no longer has the commits. */
  diff(commits: { readonly from: string | null; readonly to: string | null }): Promise<DiffPage | null>;
  /** Where the work of a task is; null where there is none yet. */
  work(state: State, task: string): Promise<TaskWork | null>;
  /** One file of the page; null when it was not built. */
  pageFile(name: PageFile): Promise<Uint8Array | null>;
}

export type PageFile = "index.html" | "app.js" | "app.css";
