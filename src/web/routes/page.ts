import type { Context, Hono } from "hono";
import { Refusal } from "../refusal.ts";
import type { PageFile, WebPorts } from "../web-ports.ts";

const TYPES: Readonly<Record<PageFile, string>> = {
  "index.html": "text/html; charset=utf-8",
  "app.js": "text/javascript; charset=utf-8",
  "app.css": "text/css; charset=utf-8",
};

/** The three files of the page; it finds its way by the address itself, so every other address is the page. */
export function pageRoutes(app: Hono, ports: Pick<WebPorts, "pageFile">): void {
  const answer = async (context: Context, name: PageFile): Promise<Response> => {
    const file = await ports.pageFile(name);
    if (file === null)
      throw new Refusal(
        503,
        `the page was not built: ${name} is missing`,
        "install ralph again, or npm run build",
      );
    return context.body(new Uint8Array(file), 200, { "Content-Type": TYPES[name] });
  };
  app.get("/app.js", (context) => answer(context, "app.js"));
  app.get("/app.css", (context) => answer(context, "app.css"));
  app.get("/favicon.ico", (context) => context.body(null, 204));
  app.get("*", (context) => answer(context, "index.html"));
}
