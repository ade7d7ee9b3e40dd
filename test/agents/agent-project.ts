import { createProject, type Project } from "../e2e/project.ts";
import { partsOf, type Way } from "./matrix.ts";
import type { ModelServer } from "./model-server/start-model-server.ts";
import { ACP_COMMANDS, scratchHome } from "./real-agent.ts";

export interface AgentProjectOptions {
  readonly way: Way;
  readonly scenario: string;
  /** With a set-up of the operator's own in HOME and in the repository. */
  readonly isSetUp?: boolean;
  /** Of `[agents.NAME]`. */
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What one iteration came to, as the log has it. */
export interface Iteration {
  readonly task: string;
  readonly verdict: string;
  readonly report: Report;
}

export interface Report {
  readonly ending: { readonly is: string };
  readonly failure: {
    readonly class: string;
    readonly kind?: string;
    readonly resets_at?: string | null;
  } | null;
  readonly usage: Readonly<Record<"input_tokens" | "output_tokens" | "cost_usd", number | null>>;
  readonly session_id: string | null;
  readonly files_written: readonly string[];
  readonly tool_calls: number;
  readonly unknown_events: number;
  readonly denied?: readonly string[];
}

/** A user's repository, the built program, and a real agent that talks to the scripted model. */
export interface AgentProject extends Project {
  iterations(): Promise<readonly Iteration[]>;
  /** The last requests that its model got, oldest first. */
  asked(): readonly unknown[];
  /** What is in the last commit. */
  committed(): readonly string[];
  /** Files of the operator's own set-up that are gone or different now, and what of it had no effect. */
  spoilt(): readonly string[];
}

let count = 0;

export async function agentProject(
  server: ModelServer,
  { way, scenario, isSetUp = false, settings = "", env = {} }: AgentProjectOptions,
): Promise<AgentProject> {
  count += 1;
  const key = `${scenario}@${process.pid}-${count}`;
  const { agent, isAcp } = partsOf(way);
  const home = await scratchHome(agent, server.url, key, isSetUp ? way : null);
  const name = isAcp ? `acp:${ACP_COMMANDS[agent].join(" ")}` : agent;
  // A reader would double the time of each journey.
  const reader = settings.includes("reader =") ? "" : '[verify]\nreader = "never"\n';
  const project = createProject({
    config: `agent = "${name}"\n[agents."${name}"]\n${settings}\n${reader}`,
    env: { ...home.env, ...env },
  });
  for (const [path, text] of Object.entries(home.inRepository)) project.write(path, text);
  project.write("TODO.md", "- [ ] **one**: write hello.txt\n");
  project.commit("the task");
  return {
    ...project,
    async iterations() {
      const events = (await project.events()) as readonly (Record<string, unknown> & Partial<Iteration>)[];
      const reports = events.filter(({ type }) => type === "iteration.ended");
      const verdicts = events.filter(({ type }) => type === "verdict.reached");
      return reports.map(({ report, iteration, task }) => ({
        task: task as string,
        report: report as Report,
        verdict: verdicts.find((event) => event["iteration"] === iteration)?.verdict ?? "none",
      }));
    },
    asked: () => server.bodies(key),
    committed: () => project.git("ls-tree", "-rz", "--name-only", "HEAD").split("\0"),
    spoilt: () => home.spoilt(project.root, JSON.stringify(server.bodies(key))),
    dispose() {
      project.dispose();
      home.dispose();
    },
  };
}
