import { certificateFacts } from "../core/report/words.ts";
import { few } from "../core/text.ts";
import { formatDuration } from "../core/time.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { z } from "zod";
import type { EventOf, Recorded } from "../core/events.ts";
import { dollars } from "../core/loop/brakes.ts";
import { type DetailGroup, explainIteration } from "../core/views/explain-iteration.ts";
import { asSentence, gateInWords, shortCommit } from "../core/views/explain-words.ts";
import {
  commitOf,
  completionOf,
  correctionsOf,
  type IterationRecord,
  iterationRecords,
  iterationRow,
  type IterationRow,
} from "../core/views/iteration-record.ts";
import {
  RUN_LIST_EVENTS,
  type RunEntry,
  runList,
  type AroundCharts,
  chartsOf,
} from "../core/views/run-list.ts";
import { type Timeline, timelineOf } from "../core/views/timeline.ts";
import { explainTask } from "../core/views/explain.ts";
import { taskState } from "../core/state.ts";
import { acceptedRange, UNDOABLE_EVENTS as ACCEPTED_EVENTS } from "../core/views/verification.ts";
import { settlementInWords, type WeighedConcern } from "../core/verdict/concerns.ts";
import type { Reading } from "../core/verdict/reader.ts";
import { RULINGS } from "../core/verdict/verdict.ts";
import type { Log, TextKind } from "../engine/ports.ts";
import type { Api, FactsPanel, IterationDetail, PageAct } from "./api.ts";
import type { LiveProject } from "./live-project.ts";
import { iterationIn, numberIn, Refusal, textIn } from "./parameters.ts";
import { limitBody, readBody } from "./start-routes.ts";
import type { WebPorts } from "./web-ports.ts";

const BODY_BYTES_MAX = 64 * 1024;

const actSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("decide"), task: z.string(), answer: z.string() }),
  z.strictObject({ do: z.literal("steer"), task: z.string().nullable(), text: z.string() }),
  z.strictObject({ do: z.literal("cancel"), task: z.string() }),
  z.strictObject({
    do: z.literal("unblock"),
    task: z.string(),
    reason: z.string(),
    /** Of its iterations from now on, exactly. */
    timeoutMs: z.int().min(1_000).optional(),
  }),
  z.strictObject({ do: z.literal("approve"), task: z.string() }),
  z.strictObject({ do: z.literal("send-back"), task: z.string(), words: z.string() }),
  z.strictObject({ do: z.literal("skip"), task: z.string(), undo: z.boolean().optional() }),
  z.strictObject({ do: z.literal("discard"), task: z.string() }),
  z.strictObject({ do: z.literal("undo"), task: z.string() }),
  z.strictObject({ do: z.literal("pause") }),
  z.strictObject({ do: z.literal("resume") }),
  z.strictObject({ do: z.literal("stop") }),
  z.strictObject({ do: z.literal("retry") }),
]) satisfies z.ZodType<PageAct>;

export function actRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  app.post("/api/act", limitBody(BODY_BYTES_MAX), async (context) => {
    const act = await readBody(context.req.raw, actSchema, "no act");
    const acted = await ports.act(act);
    if (acted.is === "refused") throw new Refusal(409, acted.why, acted.hint);
    await live.refresh();
    return context.json(acted satisfies Api["POST /api/act"]);
  });
}

export function iterationRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  app.get("/api/iterations", async (context) => {
    const [task, run, verdict] = ["task", "run", "verdict"].map((name) => textIn(context, name)) as Wanted;
    if (verdict !== null && !VERDICTS.includes(verdict))
      throw new Refusal(400, `there is no verdict "${verdict}"`, `known: ${VERDICTS.join(", ")}`);
    const query = {
      before: numberIn(context, "before", { min: 1, max: LAST, otherwise: LAST }),
      limit: numberIn(context, "limit", { min: 1, max: ROWS_MAX, otherwise: ROWS }),
      isEvery: task === null && run === null && verdict === null,
      matches: (row: IterationRow) =>
        (task === null || row.task === task) &&
        (run === null || row.run === run) &&
        (verdict === null || (row.verdict ?? UNJUDGED) === verdict),
    };
    const page = (await (await live.iterations())?.page(query)) ?? { rows: [], total: 0 };
    return context.json(page satisfies Api["GET /api/iterations"]);
  });
  app.get("/api/iterations/:number", async (context) => {
    const number = iterationIn(context);
    const record = await readIteration(live, number);
    const { worker } = record;
    const textsAre = worker !== undefined && ports.isElsewhere(worker) ? "elsewhere" : "here";
    const [transcriptBytes, promptBytes] =
      textsAre === "elsewhere"
        ? [null, null]
        : await Promise.all([ports.texts.bytes(number, "transcript"), ports.texts.bytes(number, "prompt")]);
    const texts = { transcriptBytes, hasPrompt: promptBytes !== null, textsAre } as const;
    const detail = { ...detailOf(record), ...texts };
    return context.json(detail satisfies Api["GET /api/iterations/:number"]);
  });
}

export function taskRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  app.get("/api/tasks/:id", async (context) => {
    await live.refresh();
    const { state } = live;
    const { isDriven } = await live.overview();
    const id = context.req.param("id");
    const planned = state.plan?.tasks.find((task) => task.id === id);
    const events = (await (await live.log())?.read(0, { task: id })) ?? [];
    if (planned === undefined && events.length === 0) throw new Refusal(404, `there is no task "${id}"`);
    const records = iterationRecords(events);
    const last = records.at(-1);
    const { gates = [], panels = [] } = last === undefined ? {} : detailOf(last);
    const checked = last === undefined ? [] : (completionOf(last)?.certificate.criteria ?? []);
    const { headline, next, steps, status } = explainTask(id, events, state, isDriven);
    const detail = {
      id,
      title: planned?.title ?? "",
      status,
      description: planned?.description ?? "",
      headline,
      next,
      criteria: (planned?.criteria ?? []).map((text) => ({
        text,
        by: checked.find(({ criterion }) => criterion === text)?.by ?? null,
      })),
      steps: steps.map(({ record, text }) => ({
        iteration: record?.iteration ?? null,
        verdict: record?.verdict ?? null,
        text,
      })),
      gates,
      panels,
      agent: last?.agent ?? planned?.agent ?? null,
      iterations: records.length,
      costUsd: taskState(state, id).spend.usd,
      workedMs: records.reduce((ms, { report }) => ms + (report?.durationMs ?? 0), 0),
    };
    return context.json(detail satisfies Api["GET /api/tasks/:id"]);
  });
  app.get("/api/tasks/:id/diff", async (context) => {
    const { state } = live;
    const id = context.req.param("id");
    const work = await ports.work(state, id);
    const head = taskState(state, id).workBase?.head ?? null;
    // The files of a running agent are not looked at: what its iterations have committed is.
    const pages = await Promise.all(
      (work?.ranges ?? []).map(({ from, to }) => ports.diff({ from, to: to ?? head })),
    );
    if (pages.includes(null)) throw new Refusal(404, "git no longer has the commits of this task");
    const diff = {
      where: work?.where ?? null,
      files: pages.flatMap((page) => page?.files ?? []),
      more: pages.reduce((sum, page) => sum + (page?.more ?? 0), 0),
    };
    return context.json(diff satisfies Api["GET /api/tasks/:id/diff"]);
  });
}

type Wanted = [task: string | null, run: string | null, verdict: string | null];

const ROWS = 50;
const ROWS_MAX = 500;
const LAST = 1_000_000_000;
const UNJUDGED = "none";
const VERDICTS: readonly string[] = [...RULINGS, UNJUDGED];

async function readIteration(live: LiveProject, iteration: number): Promise<IterationRecord> {
  const [record] = iterationRecords((await (await live.log())?.read(0, { iteration })) ?? []);
  if (record === undefined) throw new Refusal(404, `there is no iteration ${iteration}`);
  return record;
}

function oldChecksPanel({ files, gates, durationMs }: OldChecks): FactsPanel {
  const items = gates.map((gate) => ({
    label: `${gate.name} ${gate.status}`,
    look: gate.status === "passed" ? ("accepted" as const) : ("rejected" as const),
    texts: [asSentence(gateInWords(gate))],
  }));
  const note = `As before the task: ${few(files, 10)}; ${formatDuration(durationMs)} in all`;
  return { title: "Gates with the old checks", note, items };
}

function concernsPanel(concerns: readonly WeighedConcern[]): FactsPanel {
  const items = concerns.map((concern) => ({
    label: concern.name,
    look:
      concern.isReal === true
        ? ("rejected" as const)
        : concern.settledBy === null
          ? ("decide" as const)
          : ("accepted" as const),
    texts: [asSentence(concern.sentence), asSentence(settlementInWords(concern))],
  }));
  return { title: "Concerns", note: null, items };
}

const ANSWERS = {
  met: ["is met", "accepted"],
  not_met: ["is not met", "rejected"],
  cannot_tell: ["cannot be told", "decide"],
} as const;

function readerPanel({ agent, failure, durationMs, usage, review, undone }: Reading): FactsPanel {
  const cost = usage.costUsd === null ? "" : `, ${dollars(usage.costUsd)}`;
  const items = (review?.criteria ?? []).map(({ criterion, answer, reason }) => {
    const [words, look] = ANSWERS[answer];
    return { label: `criterion ${criterion} ${words}`, look, texts: [asSentence(reason)] };
  });
  const others = [
    ...(failure === null ? [] : [{ label: "no opinion", look: null, texts: [asSentence(failure)] }]),
    ...(undone.length === 0
      ? []
      : [{ label: "changed by it, and undone", look: null, texts: [undone.join(", ")] }]),
  ];
  return {
    title: "Second reader",
    note: `${agent}, ${formatDuration(durationMs)}${cost}`,
    items: [...items, ...others],
  };
}

function certificatePanel(completion: EventOf<"task.completed">): FactsPanel {
  const items = certificateFacts(completion).map(({ name, values, isExact }) => ({
    label: name,
    look: null,
    texts: isExact ? values.map(shortCommit) : values,
  }));
  return { title: "Certificate", note: null, items };
}

type OldChecks = NonNullable<IterationRecord["oldChecks"]>;
type FromLog = Omit<IterationDetail, "transcriptBytes" | "hasPrompt" | "textsAre">;

function detailOf(record: IterationRecord): FromLog {
  const completion = completionOf(record);
  const { groups } = explainIteration(record);
  const said = (about: DetailGroup["about"]): readonly string[] =>
    groups.flatMap((group) => (group.about === about ? group.sentences : []));
  return {
    row: iterationRow(record),
    explanation: [
      ...said("verdict"),
      ...said("claim"),
      ...said("evidence"),
      ...said("gates"),
      ...said("then"),
    ],
    gates: record.gates.map(({ name, status, exitCode, durationMs, tail }) => ({
      name,
      status,
      exitCode,
      durationMs,
      output: tail,
    })),
    panels: [
      ...(record.concerns.length === 0 ? [] : [concernsPanel(record.concerns)]),
      ...(record.oldChecks === null ? [] : [oldChecksPanel(record.oldChecks)]),
      ...(record.reading === null ? [] : [readerPanel(record.reading)]),
      ...(completion === null ? [] : [certificatePanel(completion)]),
    ],
    changedPaths: record.evidence?.changed.paths ?? [],
    commit: commitOf(record),
    feedback: feedbackOf(correctionsOf(record)),
  };
}

/** As the prompt has it: the same text comes once. */
function feedbackOf(corrections: ReturnType<typeof correctionsOf>): readonly string[] {
  const told = corrections.filter(({ isFedBack }) => isFedBack).map(({ feedback }) => feedback);
  const texts = new Map(told.toReversed().map(({ text, output }) => [text, output]));
  return [...new Set(told.map(({ text }) => text))].map((text) => {
    const output = texts.get(text);
    return output === undefined ? text : `${text}\n${output}`;
  });
}

const PIECE_BYTES = 64 * 1024;
const PIECE_BYTES_MAX = 1024 * 1024;
/** Room for any character. */
const PIECE_BYTES_MIN = 16;
const WORDS_LENGTH_MAX = 200;

export function textRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const part = (context: Context) => ({
    number: iterationIn(context),
    from: numberIn(context, "from", { min: -Infinity, max: Infinity, otherwise: 0 }),
    limit: Math.max(
      PIECE_BYTES_MIN,
      numberIn(context, "limit", { min: 1, max: PIECE_BYTES_MAX, otherwise: PIECE_BYTES }),
    ),
  });
  app.get("/api/iterations/:number/transcript", async (context) => {
    const { number, from, limit } = part(context);
    const page = await ports.texts.entries(number, from, limit);
    return context.json(
      (page ?? gone(number, "transcript")) satisfies Api["GET /api/iterations/:number/transcript"],
    );
  });
  app.get("/api/iterations/:number/prompt", async (context) => {
    const { number, from, limit } = part(context);
    const page = await ports.texts.read(number, "prompt", from, limit);
    return context.json((page ?? gone(number, "prompt")) satisfies Api["GET /api/iterations/:number/prompt"]);
  });
  app.get("/api/iterations/:number/search", async (context) => {
    const number = iterationIn(context);
    const words = textIn(context, "q");
    if (words === null) throw new Refusal(400, "say what to look for, with q");
    if (words.length > WORDS_LENGTH_MAX)
      throw new Refusal(
        400,
        `q has ${words.length} characters, and at most ${WORDS_LENGTH_MAX} are looked for`,
      );
    const hits = await ports.texts.search(number, words, context.req.raw.signal);
    return context.json(
      (hits ?? gone(number, "transcript")) satisfies Api["GET /api/iterations/:number/search"],
    );
  });
  app.get("/api/iterations/:number/diff", async (context) => {
    const { evidence } = await readIteration(live, iterationIn(context));
    const diff = await ports.diff({ from: evidence?.headBefore ?? null, to: evidence?.headAfter ?? null });
    if (diff === null) throw new Refusal(404, "git no longer has the commits of this iteration");
    return context.json(diff satisfies Api["GET /api/iterations/:number/diff"]);
  });
}

function gone(iteration: number, kind: TextKind): never {
  throw new Refusal(404, `there is no ${kind} of iteration ${iteration}`);
}

export function runRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const timelines = new Timelines();
  app.get("/api/runs", async (context) => {
    const log = await live.log();
    const index = await live.iterations();
    const runs = log === null || index === null ? [] : await readRuns(log, await index.all());
    return context.json(runs satisfies Api["GET /api/runs"]);
  });
  app.get("/api/timeline", async (context) => {
    const log = await live.log();
    const run = wantedRun(context, live);
    const line = log === null || run === null ? null : await timelines.read(log, run, live.state.position);
    if (line === null && textIn(context, "run") !== null) throw unknownRun(run ?? "");
    return context.json(line satisfies Api["GET /api/timeline"]);
  });
  app.get("/api/runs/:id/diff", async (context) => {
    const events = (await (await live.log())?.read(0, { types: ACCEPTED_EVENTS })) ?? [];
    const range = acceptedRange(events, context.req.param("id"));
    const diff = range === null ? { files: [], more: 0 } : await ports.diff(range);
    if (diff === null) throw new Refusal(404, "git no longer has the commits of this run");
    return context.json(diff satisfies Api["GET /api/runs/:id/diff"]);
  });
  app.get("/api/charts", async (context) => {
    const log = await live.log();
    const index = await live.iterations();
    const run = wantedRun(context, live);
    if (log === null || index === null || run === null) return context.json(null);
    const around = await aroundCharts(live, log, run, ports);
    const rows = (await index.all()).filter((row) => row.run === run);
    return context.json(chartsOf(rows, around) satisfies Api["GET /api/charts"]);
  });
}

function wantedRun(context: Context, { state }: LiveProject): string | null {
  return textIn(context, "run") ?? state.run?.id ?? null;
}

function unknownRun(run: string): Refusal {
  return new Refusal(404, `there is no run "${run}"`);
}

async function aroundCharts(
  live: LiveProject,
  log: Log,
  run: string,
  ports: WebPorts,
): Promise<AroundCharts> {
  const { state } = live;
  if (state.run?.id === run) {
    const { cost } = (await live.overview()).status;
    const now = state.run.end?.at ?? ports.now();
    return { budgetUsd: cost.budget_usd, forecastUsd: cost.forecast_usd, now };
  }
  const start = await readStart(log, run);
  if (start === undefined) throw unknownRun(run);
  const ends = await log.read(start.position, { types: ["run.ended"] });
  const end = ends.find((event) => event.type === "run.ended" && event.run === run);
  // What its plan came to is no longer known.
  const { run: budgetUsd } = start.settings.limits.budget;
  return { budgetUsd, forecastUsd: null, now: end?.at ?? ports.now() };
}

const KEPT_MAX = 20;

/** Those of runs that are over do not change any more; others are good until something happens. */
class Timelines {
  readonly #kept = new Map<string, { readonly line: Timeline; readonly position: number }>();

  async read(log: Log, run: string, position: number): Promise<Timeline | null> {
    const known = this.#kept.get(run);
    if (known !== undefined && (known.line.to !== null || known.position === position)) return known.line;
    const line = await readTimeline(log, run);
    if (line === null) return null;
    this.#kept.delete(run);
    this.#kept.set(run, { line, position });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return line;
  }
}

const PAGE = 500;

/** All runs, the newest first. */
async function readRuns(log: Log, rows: readonly IterationRow[]): Promise<readonly RunEntry[]> {
  return runList(await log.read(0, { types: RUN_LIST_EVENTS }), rows);
}

/** How a run was started; undefined when there is no such run. */
async function readStart(log: Log, run: string): Promise<Started | undefined> {
  const starts = await log.read(0, { types: ["run.started"] });
  return starts.find((event): event is Started => event.type === "run.started" && event.run === run);
}

type Started = Recorded<EventOf<"run.started">>;

/** Of one run, however long it is, without holding others up. */
async function readTimeline(log: Log, run: string): Promise<Timeline | null> {
  const start = await readStart(log, run);
  if (start === undefined) return null;
  const worktrees = await log.read(0, { types: ["worktree.opened", "worktree.removed"] });
  const events = worktrees.filter(({ position }) => position < start.position);
  for (let after = start.position - 1; ;) {
    const page = await log.read(after, { limit: PAGE });
    events.push(...page);
    const last = page.at(-1);
    const isOver = page.some((event) => event.type === "run.ended" && event.run === run);
    if (last === undefined || page.length < PAGE || isOver) return timelineOf(events, run);
    after = last.position;
    await nextTurn();
  }
}
