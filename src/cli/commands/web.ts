import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { findProgram } from "../../adapters/process/process-table.ts";
import { hearSignals, isDriven, openProject, type Project, requirePerson } from "../../app/project.ts";
import type { Command } from "commander";
import { prepareRun, requireStartable } from "../../app/prepare-run.ts";
import { startRunProcess, type RunProcess } from "../../app/run-process.ts";
import { openAllScreen, openWebScreen } from "../../app/screens.ts";
import { RalphError } from "../../core/errors.ts";
import { TOKEN_VARIABLE, withoutOwnSecrets } from "../../core/redact.ts";
import type { RunningServer } from "../../web/server.ts";
import { tell, type Act, type CliContext } from "../commands.ts";
import { tellTheEnd } from "./monitor.ts";

interface Flags {
  readonly port?: string;
  readonly host: string;
  readonly token?: string;
  readonly readOnly?: boolean;
  readonly run?: boolean;
  readonly all?: boolean;
  /** False: `--no-open`. */
  readonly open: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--run", "start a run too, with --stay; Ctrl-C ends both")
    .option("--all", "all projects of this machine on one page")
    .option("--port <n>", "where it listens; 0 takes a free one (default: the same for a project each time)")
    .option("--host <address>", "let other machines in; needs a token", "127.0.0.1")
    .option("--token <text>", `the token of the address; ${TOKEN_VARIABLE} keeps it out of the process list`)
    .option("--read-only", "to look only: nothing can be answered, cancelled or stopped")
    .option("--no-open", "do not open a browser")
    .option("--json", "print the address as JSON")
    .action(act(web));
}

async function web(context: CliContext, flags: Flags): Promise<number> {
  if (flags.all === true) return webOfAll(context, flags);
  const project = await openProject(context);
  requirePerson(project, "open the page");
  const where = await whereToServe(project.root, context, flags);
  const startsRun = flags.run === true && (await mayStart(project, context));
  const { startServer } = await import("../../web/server.ts");
  const screen = await openWebScreen(project, flags.readOnly !== true);
  try {
    const server = await startServer({ ports: screen.ports, ...where });
    if (startsRun) return await serveWithRun(server, project, context, flags);
    await serveUntilSignal(server, "Ctrl-C ends the page, not the run", context, flags);
    return 0;
  } finally {
    await screen.close();
  }
}

/** Every project of this machine that a run has worked on; the page of each is served when it is opened. */
async function webOfAll(context: CliContext, flags: Flags): Promise<number> {
  if (flags.run === true || flags.host !== "127.0.0.1")
    throw new RalphError("usage", "--all goes without --run and --host", {
      hint: "for one project: ralph web --run",
    });
  const where = await whereToServe("", context, flags);
  const { startAllServer } = await import("../../web/all-projects.ts");
  const screen = openAllScreen(context, flags.readOnly !== true);
  try {
    const server = await startAllServer({ ports: screen.ports, ...where });
    await serveUntilSignal(server, "Ctrl-C ends the page, not the runs", context, flags);
    return 0;
  } finally {
    await screen.close();
  }
}

/** What would be refused is refused before anything is served. False: a run is under way already. */
async function mayStart(project: Project, context: CliContext): Promise<boolean> {
  if (await isDriven(project)) {
    context.say("a run is under way already; the page shows it, and Ctrl-C does not end it");
    return false;
  }
  await requireStartable(await prepareRun(undefined, { stay: true }, context));
  return true;
}

async function serveUntilSignal(
  server: RunningServer,
  ending: string,
  context: CliContext,
  flags: Flags,
): Promise<void> {
  // Whoever reads the address may end the page at once.
  const { signal, release } = hearSignals();
  const signalled = once(signal, "abort");
  tellAddress(server, ending, context, flags);
  await signalled;
  release();
  await server.stop();
}

/** The page stays when the run has ended; the first Ctrl-C stops a run that is on, and the page with it. */
async function serveWithRun(
  server: RunningServer,
  project: Project,
  context: CliContext,
  flags: Flags,
): Promise<number> {
  const { cwd, dir, say } = context;
  let run: RunProcess | null = null;
  let isOver = false;
  const { signal, release } = hearSignals(
    () => {
      if (isOver) return;
      say("Stopping the run… (Ctrl-C again to kill its agent)");
      run?.interrupt();
    },
    () => run?.interrupt(),
  );
  const signalled = once(signal, "abort");
  tellAddress(server, "Ctrl-C ends the run and the page", context, flags);
  run = startRunProcess(project, ["run", "--stay", ...(dir === undefined ? [] : ["--dir", dir])], cwd);
  const ended = run.ended.then((code) => {
    isOver = true;
    return code;
  });
  if (signal.aborted) run.interrupt();
  await Promise.race([signalled, ended]);
  const hasEndedAlone = isOver;
  if (hasEndedAlone) {
    await tellTheEnd(project, run, context);
    say("The run has ended; the page stays until Ctrl-C");
    await signalled;
  }
  const code = await ended;
  release();
  await server.stop();
  if (!hasEndedAlone) await tellTheEnd(project, run, context);
  return code;
}

function tellAddress(server: RunningServer, ending: string, context: CliContext, flags: Flags): void {
  const { stdout, say, env, cwd } = context;
  tell(context, { url: server.url }, () => [server.url]);
  const opens = flags.open && stdout.isTTY && openBrowser(server, cwd, env);
  say(`${opens ? "opened in your browser" : "open this address in a browser"}; ${ending}`);
}

/** Without the token: the list of processes shows the arguments of the program. False: there is none. */
function openBrowser(server: RunningServer, cwd: string, env: NodeJS.ProcessEnv): boolean {
  const isMac = process.platform === "darwin";
  // Without a screen it would be a browser in this terminal.
  const hasScreen = isMac || [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some(Boolean);
  const names = [env["BROWSER"] ?? "", isMac ? "open" : "xdg-open", "wslview"];
  const program = names
    .map((name) => (name === "" ? null : findProgram(name, cwd, env)))
    .find((one) => one !== null);
  if (program === undefined || (!hasScreen && !env["BROWSER"])) return false;
  const child = spawn(program, [server.invite()], {
    env: withoutOwnSecrets(env),
    detached: true,
    stdio: "ignore",
  });
  child.on("error", () => {}); // the address is printed
  child.unref();
  return true;
}

async function whereToServe(root: string, { env }: CliContext, flags: Flags) {
  const { isLoopback, randomToken, TOKEN_LENGTH_MIN } = await import("../../web/access.ts");
  const given = flags.token ?? (env[TOKEN_VARIABLE] || undefined);
  const port = flags.port === undefined ? usualPorts(root) : portIn(flags.port);
  requireToken(flags.host, given, isLoopback(flags.host), TOKEN_LENGTH_MIN);
  return { host: flags.host, port, token: given ?? randomToken() };
}

/** Below those that the system gives away. */
const PORTS = { from: 20_000, count: 10_000, tries: 20 };

/** The port of a project, the next ones, and at last any. */
function usualPorts(root: string): readonly number[] {
  const own = createHash("sha256").update(root).digest().readUInt32BE(0);
  const next = Array.from({ length: PORTS.tries }, (_, more) => PORTS.from + ((own + more) % PORTS.count));
  return [...next, 0];
}

function portIn(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new RalphError("usage", `"${text}" is no port: that is a number from 0 to 65535`, {
    hint: "ralph web --port 0 takes one that is free",
  });
}

const EXAMPLE = `${TOKEN_VARIABLE}="$(openssl rand -hex 16)" ralph web`;

function requireToken(host: string, token: string | undefined, isLoopback: boolean, lengthMin: number): void {
  if (token === undefined && !isLoopback)
    throw new RalphError("usage", `with --host ${host} other machines can open the page: it needs a token`, {
      hint: `${EXAMPLE} --host ${host}`,
    });
  if (token !== undefined && token.length < lengthMin)
    throw new RalphError(
      "usage",
      `the token has ${token.length} characters, and needs at least ${lengthMin}`,
      { hint: `for example: ${EXAMPLE}` },
    );
}
