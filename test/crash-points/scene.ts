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
 * What a small but complete run is: one after the other in the user's checkout, or side by side with merges; with stages, of
 * which the second sends a task back; with merges that conflict; one whose log has to be mended first; one in which
 * unaccepted work leaves the branch and comes back; and those in which both tasks change checks, so that the old checks run
 * and a reader is asked, each with an overlay and with a copy of the work tree.
 */
const KINDS = {
  serial: { args: ["run"] },
  lanes: { args: ["run", "--parallel", "2"] },
  stages: { args: ["run"], config: "[stages.coder]\n[stages.reviewer]\n" },
  merges: { args: ["run", "--parallel", "2"], config: '[git]\nmerge = "merge"\n' },
  mending: { args: ["run"] },
  asides: { args: ["run"] },
  "old-checks": { args: ["run"], layout: "overlay" },
  "old-checks-copy": { args: ["run"], layout: "copy" },
  "old-checks-lanes": { args: ["run", "--parallel", "2"], layout: "overlay" },
  "old-checks-lanes-copy": { args: ["run", "--parallel", "2"], layout: "copy" },
} satisfies Record<string, SceneKind>;
export type SceneName = keyof typeof KINDS;
export const SCENES: Readonly<Record<SceneName, SceneKind>> = KINDS;

interface SceneKind {
  readonly args: readonly string[];
  /** How the old checks are laid out; missing: no task touches any. */
  readonly layout?: "overlay" | "copy";
  /** Settings besides the agents and the gate. */
  readonly config?: string;
}

export function isInLanes(name: SceneName): boolean {
  return SCENES[name].args.includes("--parallel");
}

/** Both tasks change one file. */
export function isTogether(name: SceneName): boolean {
  return SCENES[name].config !== undefined;
}

export function hasOldChecks(name: SceneName): boolean {
  return SCENES[name].layout !== undefined;
}

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
test ! -d test || . "$HOME/change-checks.sh"
test -z "$LINGER" || sleep 60
if test $task = two; then git add -A; git commit -qm "two by the agent"; fi
echo '<promise>COMPLETE</promise>'
`;

/** Each task needs two tries: after the first, one task asks, and the other has not come to its end. */
const ASKING_AGENT = `cat > /dev/null
task=$RALPH_TASK_ID
test -z "$LINGER" || sleep 60
if test -e $task.txt; then echo right > $task.txt; echo '<promise>COMPLETE</promise>'
else echo wrong > $task.txt; test $task = two || echo '<promise>DECIDE:this or that?</promise>'; fi
`;

/** It leaves files of every kind. The old check of the first task fails afterwards, that of the other does not. */
const CHANGE_CHECKS = `echo "! grep -q wrong $task.txt" > test/$task.sh
chmod 755 test/$task.sh
mkdir -p ignored; echo $task > ignored/$task; chmod 640 ignored/$task; ln -sf nowhere ignored/link
`;

/** It writes as caches do, may be met while it works, and takes a photograph of the work tree when it is there. */
const CHECK = `{ test -z "$LINGER" && sleep \${NAP:-0}; } || sleep 60
mkdir -p ignored; date +%N > ignored/cache; date +%N > ignored/$$; date +%N > cache.log
for file in test/*.sh; do sh $file || exit 1; done
photo=$HOME/photo-$(git rev-parse HEAD)
test -e $photo || sh $HOME/photograph.sh > $photo
`;

/** Everything in a work tree: names, kinds, modes, dates, links and contents; and the index. */
const PHOTOGRAPH = `export GIT_OPTIONAL_LOCKS=0
ours="-path ./.git -prune -o -path ./.ralph -prune -o"
find . $ours -printf '%p %y %m %T@ %l\\n' | sort
find . $ours -type f -print0 | sort -z | xargs -0 sha256sum
sha256sum < "$(git rev-parse --git-path index)"
`;

/** It changes what it may not, and has nothing against the first task. */
const READER = `cat > /dev/null
echo scribble > scribble.txt; echo scribble >> one.txt
test -z "$LINGER" || sleep 60
echo '<review>{"criteria": [{"criterion": 1, "answer": "met", "reason": "one.txt:1"}], "concerns": [{"concern": 1, "answer": "harmless", "reason": "one.txt may exist now"}]}</review>'
`;

/** It codes, reviews and sends the second task back once. Both put a line into one file, and bring their branches together. */
const TOGETHER_AGENT = `prompt=$(cat)
task=$RALPH_TASK_ID
test -z "$LINGER" || sleep 60
case $RALPH_STAGE in
reviewer)
  if test $task = two && ! test -e "$HOME/reviewed"; then
    : > "$HOME/reviewed"; echo '<promise>CHANGES_REQUESTED:two.txt is too short</promise>'
  else echo 'REVIEW PASSED'; echo '<promise>REVIEW_COMPLETE</promise>'; fi ;;
*)
  case $prompt in *"Bring it into your branch"*) git merge -q main || sed -i '/^[<=>]/d' shared.txt ;; esac
  echo right >> $task.txt
  grep -qs $task shared.txt || echo $task >> shared.txt
  git add -A; git commit -qm "$task by the agent"
  if test "$RALPH_STAGE" = coder; then echo '<promise>IMPLEMENTATION_COMPLETE</promise>'
  else echo '<promise>COMPLETE</promise>'; fi ;;
esac
`;

const PLAIN_GATE = "{ test -z $LINGER || sleep 60; }; ! grep -s wrong *.txt";

/** Lanes work elsewhere than beside the home, so all paths are whole. */
function configOf(home: string, gate: string): string {
  return `agent = "stub"
[verify]
reader_agent = "reader"
[agents.stub]
command = ["sh", "${home}/agent.sh"]
[agents.reader]
command = ["sh", "${home}/reader.sh"]
[[gates]]
name = "right"
command = "${gate}"
`;
}

export async function openScene(name: SceneName): Promise<Scene> {
  const project = createProject({ tasks: ["one", "two"] });
  const folder = join(project.root, "..");
  const home = join(folder, "home");
  const scripts = {
    agent: name === "asides" ? ASKING_AGENT : isTogether(name) ? TOGETHER_AGENT : AGENT,
    "change-checks": CHANGE_CHECKS,
    check: CHECK,
    photograph: PHOTOGRAPH,
    reader: READER,
  };
  for (const [script, text] of Object.entries(scripts)) writeFileSync(join(home, `${script}.sh`), text);
  const isPlain = !hasOldChecks(name);
  const gate = isPlain ? PLAIN_GATE : `sh ${home}/check.sh`;
  project.write(".ralph/ralph.toml", configOf(home, gate) + (SCENES[name].config ?? ""));
  if (!isPlain) {
    project.write(".gitignore", "ignored/\n*.log\n");
    project.write("test/one.sh", "! test -e one.txt\n");
    project.write("test/two.sh", "! grep -qs wrong two.txt\n");
  }
  const before = project.commit("scene");
  mkdirSync(join(folder, "tmp"));
  Object.assign(project.env, { TMPDIR: join(folder, "tmp") });
  if (SCENES[name].layout === "copy")
    Object.assign(project.env, { NODE_OPTIONS: `--import ${DIE_AT_STEP}`, NO_NAMESPACES: "1" });
  if (name === "mending") await project.ralph("run", "--task", "one");
  if (name === "asides") {
    await project.ralph("run", "--task", "one");
    await project.ralph("run", "--task", "two", "--max-iterations", "1");
    await project.ralph("decide", "one", "that");
  }
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
  const child = spawn(RALPH, SCENES[name].args, { cwd: project.root, env, stdio: "ignore" });
  const [, signal] = (await once(child, "exit")) as [unknown, NodeJS.Signals | null];
  const text = existsSync(log) ? readFileSync(log, "utf8") : "";
  return { signal, steps: text.split("\n").filter((line) => line !== "") };
}

/** Checks take longer, so that more deaths meet them at work. */
export const WITH_NAPS = { NAP: "0.3" };

/** Runs ralph and kills it after a time. */
export async function runForMs({ project, name }: Scene, ms: number): Promise<Died> {
  const env = { ...project.env, ...WITH_NAPS };
  const child = spawn(RALPH, SCENES[name].args, { cwd: project.root, env, stdio: "ignore" });
  const killer = ms === Infinity ? undefined : setTimeout(() => child.kill("SIGKILL"), ms);
  const [, signal] = (await once(child, "exit")) as [unknown, NodeJS.Signals | null];
  clearTimeout(killer);
  return { signal, steps: [] };
}
