import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import { RalphError } from "../core/errors.ts";
import type { Api, RunWish } from "./api.ts";
import type { LiveProject } from "./live-project.ts";
import { Refusal } from "./parameters.ts";
import type { WebPorts } from "./web-ports.ts";

const BODY_BYTES_MAX = 64 * 1024;

/** These and no others: what a page asks for becomes a fixed list of flags. */
const wishSchema = z.strictObject({
  goal: z.string().trim().max(20_000).nullable(),
  tasks: z.array(z.string()).max(500),
  agent: z.string().max(100).nullable(),
  lanes: z.int().min(1).max(64).nullable(),
  maxIterations: z.int().min(1).max(100_000).nullable(),
  budgetUsd: z.number().min(0).max(1_000_000).nullable(),
  approve: z.boolean(),
}) satisfies z.ZodType<RunWish>;

const titleSchema = z.strictObject({ title: z.string().max(2_000) });

/** What a person may do about runs and the list: see what a run would do, start it, add a task, change a title. */
export function startRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const post = <Answer extends object>(path: string, answer: (context: Context) => Promise<Answer>): void => {
    app.post(path, limitBody(BODY_BYTES_MAX), async (context) => {
      const answered = await refusing(() => answer(context));
      await live.refresh();
      return context.json(answered);
    });
  };
  post("/api/plan", async (context): Promise<Api["POST /api/plan"]> =>
    ports.planRun(await readBody(context.req.raw, wishSchema, "no wish for a run")),
  );
  post("/api/runs", async (context): Promise<Api["POST /api/runs"]> => {
    const wish = await readBody(context.req.raw, wishSchema, "no wish for a run");
    return { said: await ports.startRun(wish) };
  });
  post("/api/tasks", async (context): Promise<Api["POST /api/tasks"]> => {
    const { title } = await readBody(context.req.raw, titleSchema, "no new task");
    return { said: await ports.addTask(title) };
  });
  post("/api/tasks/:id/title", async (context): Promise<Api["POST /api/tasks/:id/title"]> => {
    const { title } = await readBody(context.req.raw, titleSchema, "no title");
    return { said: await ports.retitleTask(context.req.param("id") ?? "", title) };
  });
}

export function limitBody(maxSize: number) {
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new Refusal(413, "this is more than 64 kB");
    },
  });
}

/** What is not possible now is no failure of the server. */
async function refusing<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RalphError) throw new Refusal(409, error.message, error.hint ?? null);
    throw error;
  }
}

/** `what`: what it is not, where it cannot be read. */
export async function readBody<Body>(request: Request, schema: z.ZodType<Body>, what: string): Promise<Body> {
  let body: unknown;
  try {
    body = await request.json();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, "the body is not JSON");
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  throw new Refusal(
    400,
    `this is ${what}: ${where === "" ? "" : `${where}: `}${issue?.message ?? "unknown"}`,
  );
}
