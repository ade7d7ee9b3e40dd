import type { ScreenPorts } from "../engine/watch-project.ts";
import type { DiffPage, TextHit, TextPage } from "./api.ts";

export interface WebPorts extends ScreenPorts {
  readonly texts: Texts;
  /** Whether what this worker's agents said lies on another machine. */
  isElsewhere(worker: string): boolean;
  /** Null when git no longer has the commits. */
  diff(commits: { readonly from: string | null; readonly to: string | null }): Promise<DiffPage | null>;
  /** One file of the page; null when it was not built. */
  pageFile(name: PageFile): Promise<Uint8Array | null>;
  /** Keeps the files beside the log in step with what a person did while no run is on. */
  refreshStatus(): Promise<void>;
}

export type TextKind = "transcript" | "prompt";

/** What was said in an iteration, of any size. Null: the text is not there. */
interface Texts {
  bytes(iteration: number, kind: TextKind): Promise<number | null>;
  read(iteration: number, kind: TextKind, from: number, limit: number): Promise<TextPage | null>;
  search(
    iteration: number,
    kind: TextKind,
    words: string,
    signal: AbortSignal,
  ): Promise<readonly TextHit[] | null>;
}

export type PageFile = "index.html" | "app.js" | "app.css";
