import type { Hono } from "hono";
import { explainIteration, type DetailGroup } from "../../core/projections/explain-details.ts";
import { iterationStories, type IterationStory } from "../../core/projections/explain-iteration.ts";
import { commitOf } from "../../core/projections/history.ts";
import { iterationRows, type IterationRow } from "../../core/projections/iteration-row.ts";
import type { Api, IterationDetail } from "../api.ts";
import type { LiveProject } from "../live-project.ts";
import { iterationIn, numberIn, textIn } from "../parameters.ts";
import { Refusal } from "../refusal.ts";
import type { WebPorts } from "../web-ports.ts";

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
    const { row, story } = await readIteration(live, number);
    const textsAre = row.worker !== undefined && ports.isElsewhere(row.worker) ? "elsewhere" : "here";
    const [transcriptBytes, promptBytes] =
      textsAre === "elsewhere"
        ? [null, null]
        : await Promise.all([ports.texts.bytes(number, "transcript"), ports.texts.bytes(number, "prompt")]);
    const texts = { transcriptBytes, hasPrompt: promptBytes !== null, textsAre } as const;
    const detail = { ...detailOf(row, story), ...texts };
    return context.json(detail satisfies Api["GET /api/iterations/:number"]);
  });
}

type Wanted = [task: string | null, run: string | null, verdict: string | null];

const ROWS = 50;
const ROWS_MAX = 500;
const LAST = 1_000_000_000;
const UNJUDGED = "none";
const VERDICTS: readonly string[] = [
  "accepted",
  "continue",
  "rejected",
  "blocked",
  "decide",
  "failed",
  UNJUDGED,
];

export async function readIteration(
  live: LiveProject,
  iteration: number,
): Promise<{ readonly row: IterationRow; readonly story: IterationStory }> {
  const events = (await (await live.log())?.read(0, { iteration })) ?? [];
  const [row] = iterationRows(events);
  const [story] = iterationStories(events);
  if (row === undefined || story === undefined) throw new Refusal(404, `there is no iteration ${iteration}`);
  return { row, story };
}

type FromLog = Omit<IterationDetail, "transcriptBytes" | "hasPrompt" | "textsAre">;

function detailOf(row: IterationRow, story: IterationStory): FromLog {
  const { record, corrections } = story;
  const { groups } = explainIteration(story);
  const said = (about: DetailGroup["about"]): readonly string[] =>
    groups.flatMap((group) => (group.about === about ? group.sentences : []));
  return {
    row,
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
    changedPaths: record.evidence?.changed.paths ?? [],
    commit: commitOf(record),
    feedback: corrections
      .filter(({ isFedBack }) => isFedBack)
      .map(({ feedback: { text, output } }) => (output === undefined ? text : `${text}\n${output}`)),
  };
}
