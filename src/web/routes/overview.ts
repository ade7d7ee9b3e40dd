import type { Hono } from "hono";
import type { Api } from "../api.ts";
import type { EventStream } from "../event-stream.ts";
import type { LiveProject } from "../live-project.ts";
import { numberIn } from "../parameters.ts";

export function overviewRoutes(app: Hono, live: LiveProject, events: EventStream): void {
  app.get("/api/overview", async (context) =>
    context.json((await live.overview()) satisfies Api["GET /api/overview"]),
  );
  app.get("/api/events", (context) => {
    const seen = context.req.header("last-event-id") ?? "";
    if (/^\d{1,15}$/.test(seen)) return events.serve(context, Number(seen));
    const after = numberIn(context, "after", { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: -1 });
    return events.serve(context, after === -1 ? null : after);
  });
}
