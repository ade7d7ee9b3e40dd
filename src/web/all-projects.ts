import { randomToken } from "./access.ts";
import type { ProjectEntry } from "./api.ts";
import { Refusal } from "./parameters.ts";
import {
  createGuardedApp,
  pageRoutes,
  type RunningServer,
  serveApp,
  startServer,
  type Where,
} from "./server.ts";
import type { WebPorts } from "./web-ports.ts";

export interface AllPorts extends Pick<WebPorts, "pageFile" | "mayAct"> {
  /** As they are now, the one with the latest run first. */
  projects(): Promise<readonly ProjectEntry[]>;
  /** Null: there is none with this key. */
  open(key: string): Promise<WebPorts | null>;
}

/** One page for all projects. Each has a page of its own, which is served from when it is first opened. */
export async function startAllServer({
  ports,
  ...where
}: Where & { readonly ports: AllPorts }): Promise<RunningServer> {
  const opened = new Map<string, Promise<RunningServer>>();
  const serverOf = (key: string): Promise<RunningServer> => {
    const known = opened.get(key);
    if (known !== undefined) return known;
    const starting = ports.open(key).then((own) => {
      if (own === null)
        throw new Refusal(404, "there is no such project", "open the page of all projects again");
      return startServer({ ports: own, host: where.host, port: 0, token: randomToken() });
    });
    opened.set(key, starting);
    // The next click tries again.
    starting.catch(() => opened.delete(key));
    return starting;
  };
  const all = await serveApp(where, (access) => {
    const app = createGuardedApp({ ...access, mayAct: ports.mayAct });
    app.get("/api/projects", async (context) => context.json(await ports.projects()));
    app.get("/open/:key", async (context) =>
      context.redirect((await serverOf(context.req.param("key"))).invite(), 303),
    );
    pageRoutes(app, ports, (index) => index.replace("<html ", "<html data-all "));
    return app;
  });
  return {
    ...all,
    async stop() {
      const servers = await Promise.allSettled(opened.values());
      const ended = servers.flatMap((one) => (one.status === "fulfilled" ? [one.value.stop()] : []));
      await Promise.all([all.stop(), ...ended]);
    },
  };
}
