import type { Acted, OperatorAct } from "../core/loop/operator-act.ts";
import type { TaskStatus } from "../core/loop/task-status.ts";
import type { CheckedCriterion } from "../core/verdict/certificate.ts";
import type { Ruling } from "../core/verdict/verdict.ts";
import type { IterationRow } from "../core/views/iteration-record.ts";
import type { RunEntry, Charts } from "../core/views/run-list.ts";
import type { EntryHit, EntryPage, Overview, TextPage } from "../core/views/overview.ts";
import type { RunPlan } from "../core/views/run-plan.ts";
import type { Status } from "../core/views/status.ts";
import type { Timeline } from "../core/views/timeline.ts";

/**
 * What the page and the server say to each other. All under `/api`, JSON, with the cookie of the printed address.
 * An error is `{ "error": { "message", "hint" } }` with a status of 400 and above; a hint may be null.
 */
export interface Api {
  "GET /api/overview": Overview;
  /** The newest first. */
  "GET /api/runs": readonly RunEntry[];
  /** `?run=ID`; without it the latest. Null before the first run. */
  "GET /api/timeline": Timeline | null;
  /** The same. */
  "GET /api/charts": Charts | null;
  /** `?before=N&limit=N&task=ID&run=ID&verdict=V`: the newest first; the verdict `none` is of those without one. */
  "GET /api/iterations": IterationPage;
  "GET /api/iterations/:number": IterationDetail;
  /** `?from=BYTE&limit=BYTES`; a negative `from` counts from the end. The entries of whole lines, from there on. */
  "GET /api/iterations/:number/transcript": EntryPage;
  /** `?q=TEXT`: entries in the whole of it, in any case, the first 200. */
  "GET /api/iterations/:number/search": readonly EntryHit[];
  /** `?from=BYTE&limit=BYTES`, as for a transcript. */
  "GET /api/iterations/:number/prompt": TextPage;
  "GET /api/iterations/:number/diff": DiffPage;
  "GET /api/tasks/:id": TaskDetail;
  /** All that was changed for it: accepted, aside or under way. */
  "GET /api/tasks/:id/diff": TaskDiff;
  /** What its accepted work comes to on the base. */
  "GET /api/runs/:id/diff": DiffPage;
  /** The body is a `PageAct`. What is refused is an error with the status 409, here and below. */
  "POST /api/act": Acted;
  /** The body is a `RunWish`: what a run would do. */
  "POST /api/plan": RunPlan & { readonly agentsKnown: readonly string[] };
  /** The same body: starts it. */
  "POST /api/runs": Said;
  /** `{ "title" }`: a new task for the list. */
  "POST /api/tasks": Said;
  /** `{ "title" }`: another title for the task, in the list. */
  "POST /api/tasks/:id/title": Said;
  /** Only of the page of all projects. */
  "GET /api/projects": readonly ProjectEntry[];
}

export interface Said {
  readonly said: string;
}

/** What a run is to do; null and none: as the configuration says. */
export interface RunWish {
  /** One task from these words; null: the list. */
  readonly goal: string | null;
  readonly tasks: readonly string[];
  readonly agent: string | null;
  readonly lanes: number | null;
  readonly maxIterations: number | null;
  readonly budgetUsd: number | null;
  /** Hold accepted work until a person approves it. */
  readonly approve: boolean;
}

export interface ProjectEntry {
  readonly key: string;
  readonly name: string;
  readonly root: string;
  /** Null where its state cannot be read; `problem` says why. */
  readonly status: Status | null;
  readonly problem: string | null;
}

/** What a person may do from the page. */
export type PageAct = OperatorAct | { readonly do: "discard" | "undo"; readonly task: string };

export interface IterationPage {
  readonly rows: readonly IterationRow[];
  /** Of all that match. */
  readonly total: number;
}

export interface IterationDetail {
  readonly row: IterationRow;
  /** Verdict and why, in sentences. */
  readonly explanation: readonly string[];
  readonly gates: readonly {
    readonly name: string;
    readonly status: string;
    readonly exitCode: number | null;
    readonly durationMs: number;
    readonly output: string;
  }[];
  /** Concerns, old checks, the second reader and the certificate, as far as there are any. */
  readonly panels: readonly FactsPanel[];
  readonly changedPaths: readonly string[];
  readonly commit: string | null;
  /** What the next prompt said because of it. */
  readonly feedback: readonly string[];
  readonly transcriptBytes: number | null;
  readonly hasPrompt: boolean;
  /** `elsewhere`: prompt and transcript lie on the machine of the worker. */
  readonly textsAre: "here" | "elsewhere";
}

export interface TaskDetail {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus | null;
  readonly description: string;
  readonly headline: string;
  /** What to type next; null: nothing. */
  readonly next: string | null;
  /** Who checked each is known once it was accepted. */
  readonly criteria: readonly { readonly text: string; readonly by: CheckedCriterion["by"] | null }[];
  /** Its iterations, and what happened between them. */
  readonly steps: readonly {
    readonly iteration: number | null;
    readonly verdict: Ruling | null;
    readonly text: string;
  }[];
  /** Of the last iteration. */
  readonly gates: IterationDetail["gates"];
  readonly panels: readonly FactsPanel[];
  readonly agent: string | null;
  readonly iterations: number;
  readonly costUsd: number | null;
  readonly workedMs: number;
}

export interface TaskDiff extends DiffPage {
  /** In words; null where there is no work yet. */
  readonly where: string | null;
}

export interface FactsPanel {
  readonly title: string;
  readonly note: string | null;
  readonly items: readonly {
    readonly label: string;
    /** The verdict whose mark it has; null: none. */
    readonly look: "accepted" | "rejected" | "decide" | null;
    readonly texts: readonly string[];
  }[];
}

export interface DiffPage {
  readonly files: readonly {
    readonly path: string;
    /** Of a renamed one: what it was before. */
    readonly from?: string | null;
    readonly status: "added" | "changed" | "removed" | "renamed" | "binary";
    /** A unified diff without its header; null where it is too long to show. */
    readonly hunks: string | null;
  }[];
  /** Files that are left out because there are too many. */
  readonly more: number;
}

/**
 * `GET /api/events`: server-sent events. `id` is the position in the log, so that `Last-Event-ID` resumes; each has the
 * name `facts` and `{ "position", "types": [...], "tasks": [...], "iterations": [...] }`: what the page should ask for
 * anew. Where all three are empty that is everything older than `position`: the first one of a page that has seen nothing
 * yet (it may say `?after=POSITION` of its overview), and after a long absence. `progress` comes without an id and holds
 * `LiveProgress[]`.
 */
export interface Facts {
  readonly position: number;
  readonly types: readonly string[];
  readonly tasks: readonly string[];
  readonly iterations: readonly number[];
}
