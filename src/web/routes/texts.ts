import type { Context, Hono } from "hono";
import type { Api } from "../api.ts";
import type { LiveProject } from "../live-project.ts";
import { iterationIn, numberIn, textIn } from "../parameters.ts";
import { Refusal } from "../refusal.ts";
import type { TextKind, WebPorts } from "../web-ports.ts";
import { readIteration } from "./iterations.ts";

const PIECE_BYTES = 64 * 1024;
const PIECE_BYTES_MAX = 1024 * 1024;
/** Room for any character. */
const PIECE_BYTES_MIN = 16;
const WORDS_LENGTH_MAX = 200;

export function textRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const read = async (
    context: Context,
    kind: TextKind,
  ): Promise<Api["GET /api/iterations/:number/prompt"]> => {
    const from = numberIn(context, "from", { min: -Infinity, max: Infinity, otherwise: 0 });
    const wanted = numberIn(context, "limit", { min: 1, max: PIECE_BYTES_MAX, otherwise: PIECE_BYTES });
    const number = iterationIn(context);
    const page = await ports.texts.read(number, kind, from, Math.max(PIECE_BYTES_MIN, wanted));
    return page ?? gone(number, kind);
  };
  app.get("/api/iterations/:number/transcript", async (context) =>
    context.json(await read(context, "transcript")),
  );
  app.get("/api/iterations/:number/prompt", async (context) => context.json(await read(context, "prompt")));
  app.get("/api/iterations/:number/search", async (context) => {
    const number = iterationIn(context);
    const words = textIn(context, "q");
    if (words === null) throw new Refusal(400, "say what to look for, with q");
    if (words.length > WORDS_LENGTH_MAX)
      throw new Refusal(
        400,
        `q has ${words.length} characters, and at most ${WORDS_LENGTH_MAX} are looked for`,
      );
    const hits = await ports.texts.search(number, "transcript", words, context.req.raw.signal);
    return context.json(
      (hits ?? gone(number, "transcript")) satisfies Api["GET /api/iterations/:number/search"],
    );
  });
  app.get("/api/iterations/:number/diff", async (context) => {
    const { evidence } = (await readIteration(live, iterationIn(context))).story.record;
    const diff = await ports.diff({ from: evidence?.headBefore ?? null, to: evidence?.headAfter ?? null });
    if (diff === null) throw new Refusal(404, "git no longer has the commits of this iteration");
    return context.json(diff satisfies Api["GET /api/iterations/:number/diff"]);
  });
}

function gone(iteration: number, kind: TextKind): never {
  throw new Refusal(404, `there is no ${kind} of iteration ${iteration}`);
}
