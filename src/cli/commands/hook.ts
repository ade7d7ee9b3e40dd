import { Argument, type Command } from "commander";
import { textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import type { Act, CliContext } from "../commands.ts";
import type { Places } from "../hook/active-run.ts";
import { answerToolUse } from "../hook/context-monitor.ts";
import { readInput } from "../hook/read-input.ts";
import { answerStop } from "../hook/stop-hook.ts";

type HookName = "stop" | "post-tool-use";

export function define(command: Command, act: Act): void {
  command
    .addArgument(
      new Argument("<event>", "what the agent is about to do, or has done").choices([
        "stop",
        "post-tool-use",
      ]),
    )
    .action((event: HookName) => act((context) => hook(event, context)));
}

/** Runs on the agent's side, which it must never break: whatever happens, it answers and ends well. */
async function hook(event: HookName, context: CliContext): Promise<number> {
  const answer = await answerTo(event, context).catch(() => NEUTRAL[event]); // the verdict looks at everything again
  context.stdout.write(`${JSON.stringify(answer)}\n`);
  return 0;
}

const NEUTRAL: Readonly<Record<HookName, object>> = {
  stop: { decision: "approve" },
  "post-tool-use": {},
};

async function answerTo(event: HookName, context: CliContext): Promise<object> {
  const input = await readInput(process.stdin);
  const { env } = context;
  return event === "stop" ? answerStop(input, placesOf(input, context), env) : answerToolUse(input, env);
}

function placesOf({ cwd: given }: Fields, { cwd, env, dir }: CliContext): Places {
  return {
    folders: [given, env["CLAUDE_PROJECT_DIR"], cwd].flatMap((folder) => textOf(folder) ?? []),
    ralphDir: dir ?? (env["RALPH_DIR"] || ".ralph"),
  };
}
