// A process of its own that reads command lines with the program's own parser, or performs them, one after the other:
// starting the program for each of some hundred lines would take longer than all else. Tasks come as JSON on stdin.
import { text } from "node:stream/consumers";
import { runCli } from "../../src/cli/commands.ts";
import { createCommandParser, type Complaint } from "./parse-command.ts";

export interface Asked {
  readonly parse: readonly (readonly string[])[];
  readonly perform: readonly { readonly cwd: string; readonly args: readonly string[] }[];
}

export interface Answered {
  readonly parsed: readonly (Complaint | null)[];
  readonly performed: readonly { readonly exitCode: number; readonly output: string }[];
}

if (import.meta.main) {
  const { parse, perform } = JSON.parse(await text(process.stdin)) as Asked;
  const complaintOf = await createCommandParser();
  const parsed: (Complaint | null)[] = [];
  for (const args of parse) parsed.push(await complaintOf(args));
  for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
  const performed: Answered["performed"][number][] = [];
  for (const one of perform) performed.push(await performIn(one));
  process.stdout.write(JSON.stringify({ parsed, performed } satisfies Answered));
}

async function performIn({ cwd, args }: Asked["perform"][number]): Promise<Answered["performed"][number]> {
  process.chdir(cwd);
  const written: string[] = [];
  const streams = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  const keep = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    written.push(String(chunk));
    const done = rest.at(-1);
    if (typeof done === "function") process.nextTick(done);
    return true;
  };
  for (const { stream } of streams) stream.write = keep;
  try {
    return { exitCode: await runCli(args, "0"), output: written.join("") };
  } finally {
    for (const { stream, write } of streams) stream.write = write;
  }
}
