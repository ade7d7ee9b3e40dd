import { once } from "node:events";
import { hearSignals, openProject, requirePerson } from "../../app/project.ts";
import type { Command } from "commander";
import { openWebScreen } from "../../app/screens.ts";
import { RalphError } from "../../core/errors.ts";
import { TOKEN_VARIABLE } from "../../core/redact.ts";
import { tell, type Act, type CliContext } from "../commands.ts";

interface Flags {
  readonly port: string;
  readonly host: string;
  readonly token?: string;
  readonly readOnly?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--port <n>", "where it listens; 0 takes one that is free", "0")
    .option("--host <address>", "let other machines in; needs a token", "127.0.0.1")
    .option("--token <text>", `the token of the address; ${TOKEN_VARIABLE} keeps it out of the process list`)
    .option("--read-only", "to look only: nothing can be answered, cancelled or stopped")
    .option("--json", "print the address as JSON")
    .action(act(web));
}

async function web(context: CliContext, flags: Flags): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, "open the page");
  const port = portIn(flags.port);
  const { isLoopback, randomToken, TOKEN_LENGTH_MIN } = await import("../../web/access.ts");
  const given = flags.token ?? (context.env[TOKEN_VARIABLE] || undefined);
  requireToken(flags.host, given, isLoopback(flags.host), TOKEN_LENGTH_MIN);
  const { startServer } = await import("../../web/server.ts");
  const screen = await openWebScreen(project, flags.readOnly !== true);
  try {
    const token = given ?? randomToken();
    const server = await startServer({ ports: screen.ports, host: flags.host, port, token });
    // Whoever reads the address may end the page at once.
    const { signal, release } = hearSignals();
    const signalled = once(signal, "abort");
    tell(context, { url: server.url }, () => [server.url]);
    context.say("open this address in a browser; Ctrl-C ends the page, not the run");
    await signalled;
    release();
    await server.stop();
    return 0;
  } finally {
    await screen.close();
  }
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
