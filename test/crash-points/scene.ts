import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Recorded } from "../../src/core/events.ts";
import type { Death } from "../e2e/die-at-step.ts";
import { createProject, RALPH, type Project } from "../e2e/project.ts";
import { recordedIn } from "./recorded.ts";

/**
 * What a small but complete run is: one after the other in the user's checkout, or side by side with merges; and one whose
 * log has to be mended first.
 */
export const SCENES = {
  serial: ["run"],
  lanes: ["run", "--parallel", "2"],
  mending: ["run"],
} as const;
export type SceneName = keyof typeof SCENES;

/** A project before its run; it can be put back to that moment as often as needed. */
export interface Scene {
  readonly name: SceneName;
  readonly project: Project;
  readonly folder: string;
  /** Where the base stands before. */
  readonly before: string;
  /** What was recorded before; it is still there afterwards. */
  readonly recorded: readonly Recorded[];
}

const DIE_AT_STEP = join(import.meta.dirname, "..", "e2e", "die-at-step.ts");

/**
 * It claims the first task once without having done it, leaves the commit of that one to us, and commits the other one
 * itself. Where a death is to find it at work, it works for long.
 */
const AGENT = `cat > /dev/null
task=$RALPH_TASK_ID
if test $task = one && ! test -e "$HOME/tried"; then : > "$HOME/tried"; echo wrong > one.txt
else echo right > $task.txt; fi
test -z "$LINGER" || sleep 60
if test $task = two; then git add -A; git commit -qm "two by the agent"; fi
echo '<promise>COMPLETE</promise>'
`;

const CONFIG = `agent = "stub"
[agents.stub]
command = ["sh", "../home/agent.sh"]
[[gates]]
name = "right"
command = "{ test -z $LINGER || sleep 60; }; ! grep -s wrong *.txt"
`;

export async function openScene(name: SceneName): Promise<Scene> {
  const project = createProject({ tasks: ["one", "two"], config: CONFIG });
  const folder = join(project.root, "..");
  writeFileSync(join(folder, "home", "agent.sh"), AGENT);
  // Lanes work elsewhere than beside the home.
  project.write(".ralph/ralph.toml", CONFIG.replace("../home", join(folder, "home")));
  const before = project.commit("scene");
  mkdirSync(join(folder, "tmp"));
  Object.assign(project.env, { TMPDIR: join(folder, "tmp") });
  if (name === "mending") await project.ralph("run", "--task", "one");
  const recorded = recordedIn(join(project.root, ".git", "ralph"));
  if (name === "mending") destroyFirstPage(join(project.root, ".git", "ralph", "state.db"));
  mkdirSync(join(folder, "saved"));
  copy(folder, join(folder, "saved"));
  return { name, project, folder, before, recorded };
}

function destroyFirstPage(file: string): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(4096, 0xee), 0, 4096, 0);
  closeSync(descriptor);
}

export function putBack({ folder }: Scene): void {
  for (const name of [...KEPT, "steps"]) rmSync(join(folder, name), { recursive: true, force: true });
  copy(join(folder, "saved"), folder);
}

const KEPT = ["repository", "home", "tmp"] as const;

function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", ...KEPT.map((name) => join(from, name)), to]);
}

export interface Died {
  readonly signal: NodeJS.Signals | null;
  readonly steps: readonly string[];
}

/** Runs ralph until it dies at a step, or to its end if it does not come to it. */
export async function runUntilDeath(
  scene: Scene,
  { step, when }: Pick<Death, "step" | "when">,
): Promise<Died> {
  const { project, folder, name } = scene;
  const log = join(folder, "steps");
  const death: Death = { step, when, hooks: null, log, folder, fine: true };
  const env = { ...project.env, NODE_OPTIONS: `--import ${DIE_AT_STEP}`, DEATH: JSON.stringify(death) };
  const child = spawn(RALPH, SCENES[name], { cwd: project.root, env, stdio: "ignore" });
  const [, signal] = (await once(child, "exit")) as [unknown, NodeJS.Signals | null];
  const text = existsSync(log) ? readFileSync(log, "utf8") : "";
  return { signal, steps: text.split("\n").filter((line) => line !== "") };
}

/** Runs ralph and kills it after a time. */
export async function runForMs({ project, name }: Scene, ms: number): Promise<Died> {
  const child = spawn(RALPH, SCENES[name], { cwd: project.root, env: project.env, stdio: "ignore" });
  const killer = setTimeout(() => child.kill("SIGKILL"), ms);
  const [, signal] = (await once(child, "exit")) as [unknown, NodeJS.Signals | null];
  clearTimeout(killer);
  return { signal, steps: [] };
}
