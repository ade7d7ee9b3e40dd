import type { ScreenPorts, TaskWork } from "../app/watch-project.ts";
import type { IterationTexts } from "../engine/ports.ts";
import type { State } from "../core/state.ts";
import type { Api, DiffPage, RunWish } from "./api.ts";

export interface WebPorts extends ScreenPorts {
  readonly texts: IterationTexts;
  /** Null when git no longer has the commits. */
  diff(commits: { readonly from: string | null; readonly to: string | null }): Promise<DiffPage | null>;
  /** Where the work of a task is; null where there is none yet. */
  work(state: State, task: string): Promise<TaskWork | null>;
  /** What a run would do. */
  planRun(wish: RunWish): Promise<Api["POST /api/plan"]>;
  /** Starts a run as a process of its own; what to tell the person. Throws what refuses it. */
  startRun(wish: RunWish): Promise<string>;
  /** The same, of the list. */
  addTask(title: string): Promise<string>;
  retitleTask(task: string, title: string): Promise<string>;
  /** One file of the page; null when it was not built. */
  pageFile(name: PageFile): Promise<Uint8Array | null>;
}

export type PageFile = "index.html" | "app.js" | "app.css";
