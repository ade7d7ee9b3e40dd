import type { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { z } from "zod";
import type { OperatorAct } from "../../core/operator/operator-act.ts";
import { actAsOperator } from "../../engine/operator.ts";
import type { Api } from "../api.ts";
import type { LiveProject } from "../live-project.ts";
import { Refusal } from "../refusal.ts";
import type { WebPorts } from "../web-ports.ts";

const BODY_BYTES_MAX = 64 * 1024;

const actSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("decide"), task: z.string(), answer: z.string() }),
  z.strictObject({ do: z.literal("steer"), task: z.string().nullable(), text: z.string() }),
  z.strictObject({ do: z.literal("cancel"), task: z.string() }),
  z.strictObject({ do: z.literal("unblock"), task: z.string(), reason: z.string() }),
  z.strictObject({ do: z.literal("stop") }),
  z.strictObject({ do: z.literal("retry") }),
]) satisfies z.ZodType<OperatorAct>;

export function actRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const limit = bodyLimit({
    maxSize: BODY_BYTES_MAX,
    onError: () => {
      throw new Refusal(413, "this is more than 64 kB");
    },
  });
  app.post("/api/act", limit, async (context) => {
    const act = await readAct(context.req.raw);
    const log = await live.log();
    if (log === null) throw new Refusal(409, "there is no run yet", "ralph run");
    const acted = await actAsOperator(log, act, (await ports.driving()).isDriven);
    if (acted.is === "refused") throw new Refusal(409, acted.why);
    await ports.refreshStatus();
    await live.refresh();
    return context.json(acted satisfies Api["POST /api/act"]);
  });
}

async function readAct(request: Request): Promise<OperatorAct> {
  let body: unknown;
  try {
    body = await request.json();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, "the body is not JSON");
  }
  const parsed = actSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") ?? "";
  throw new Refusal(400, `this is no act: ${where === "" ? "" : `${where}: `}${issue?.message ?? "unknown"}`);
}
