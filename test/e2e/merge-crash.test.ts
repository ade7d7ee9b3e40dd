import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import type { Death } from "./die-at-step.ts";
import { createProject, RALPH, type Project } from "./project.ts";

const FLAGS = ["run", "--parallel", "2"];
const DIE_AT_STEP = join(import.meta.dirname, "die-at-step.ts");

/** Two tasks whose work is accepted and not yet merged; it can be put back to that moment as often as needed. */
interface Scene {
  readonly project: Project;
  readonly folder: string;
  /** Where the base stands before. */
  readonly before: string;
  readonly isCheckedOut: boolean;
}

const scenes: Scene[] = [];
afterEach(() => {
  for (const { project } of scenes.splice(0)) project.dispose();
});

async function openScene(isCheckedOut: boolean): Promise<Scene> {
  const project = createProject({
    tasks: ["one", "two"],
    config: `agent = "stub"
[agents.stub]
command = ["sh", "-c", "cat > /dev/null; echo work > $RALPH_TASK_ID.txt; echo '<promise>COMPLETE</promise>'"]
[[gates]]
name = "sound"
command = "test -e README.md && { test -z $LINGER || sleep 60; }"
`,
  });
  const scene = {
    project,
    folder: join(project.root, ".."),
    before: project.git("rev-parse", "main"),
    isCheckedOut,
  };
  scenes.push(scene);
  // What a person has not committed holds the merges up.
  project.write("README.md", "in the middle of something\n");
  for (const flags of [["--task", "one"], []])
    expect(await project.ralph(...FLAGS, ...flags)).toMatchObject({ code: 2 });
  project.git("checkout", "--quiet", "README.md");
  if (!isCheckedOut) project.git("switch", "--quiet", "--create", "mine");
  mkdirSync(join(scene.folder, "saved"));
  copy(scene.folder, join(scene.folder, "saved"));
  return scene;
}

function putBack({ folder }: Scene): void {
  for (const name of ["repository", "home", "steps", "hooks"])
    rmSync(join(folder, name), { recursive: true, force: true });
  copy(join(folder, "saved"), folder);
}

function copy(from: string, to: string): void {
  execFileSync("cp", ["-a", join(from, "repository"), join(from, "home"), to]);
}

/** Runs ralph until it dies, or to its end if it does not; answers the signal that ended it. */
async function runUntilDeath({ project, folder }: Scene, death: Partial<Death>): Promise<unknown> {
  const whole: Death = {
    step: 0,
    when: "before",
    hooks: null,
    fine: false,
    log: join(folder, "steps"),
    folder,
    ...death,
  };
  const env = { ...project.env, NODE_OPTIONS: `--import ${DIE_AT_STEP}`, DEATH: JSON.stringify(whole) };
  const child = spawn(RALPH, FLAGS, { cwd: project.root, env, stdio: "ignore" });
  const [, signal] = (await once(child, "exit")) as [unknown, unknown];
  return signal;
}

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

/** The trees that the base has, from the one before to now, as far as it is ours. */
function treesOf({ project, before }: Scene): readonly string[] {
  const range = ["--first-parent", "--reverse", "--format=%T", `${before}..main`];
  return [project.git("rev-parse", `${before}^{tree}`), ...linesOf(project.git("log", ...range))];
}

/** What an undisturbed run does, and what it leads to. */
interface Undisturbed {
  readonly steps: readonly string[];
  readonly trees: readonly string[];
}

async function undisturbed(scene: Scene, death: Partial<Death> = {}): Promise<Undisturbed> {
  expect(await runUntilDeath(scene, death)).toBeNull();
  const trees = treesOf(scene);
  expect(trees).toHaveLength(3);
  expect(await outcomeOf(scene)).toEqual(soundOutcome(scene, trees));
  return { steps: linesOf(readFileSync(join(scene.folder, "steps"), "utf8")), trees };
}

async function outcomeOf(scene: Scene): Promise<Record<string, unknown>> {
  const { project, folder, before } = scene;
  const { code, stderr } = await project.ralph(...FLAGS);
  const refs = linesOf(project.git("for-each-ref", "--format=%(refname)", "refs/heads"));
  const backups = linesOf(project.git("for-each-ref", "--format=%(objectname)", "refs/ralph/backup"));
  return {
    code,
    stderr,
    trees: treesOf(scene),
    subjects: linesOf(project.git("log", "--format=%s", `${before}..main`)),
    status: project.git("status", "--porcelain"),
    branches: refs,
    work: ["one", "two"]
      .filter((task) => refs.includes(`refs/heads/ralph/merged/${task}`))
      .map((task) => project.git("show", `ralph/merged/${task}:${task}.txt`)),
    backups: ["main~1", "main~2"].every((commit) => backups.includes(project.git("rev-parse", commit))),
    fsck: project.git("fsck", "--connectivity-only", "--no-dangling"),
    worktrees: linesOf(project.git("worktree", "list")).length,
    litter: globSync(
      [
        "repository/.git/*.lock",
        "repository/.git/refs/**/*.lock",
        "repository/.git/ralph/scratch/*",
        "home/.local/state/ralph/*/*",
      ],
      { cwd: folder },
    ),
    leftovers: project.leftovers(),
  };
}

function soundOutcome({ isCheckedOut }: Scene, trees: readonly string[]): Record<string, unknown> {
  const merged = ["ralph/merged/one", "ralph/merged/two"];
  return {
    code: 0,
    stderr: "",
    trees,
    subjects: ["ralph(two): make two", "ralph(one): make one"],
    status: "",
    branches: ["main", ...(isCheckedOut ? [] : ["mine"]), ...merged].map((name) => `refs/heads/${name}`),
    work: ["work", "work"],
    backups: true,
    fsck: "",
    worktrees: 1,
    litter: [],
    leftovers: [],
  };
}

/** A death, in words, and how it is brought about. */
interface Point {
  readonly name: string;
  readonly bring: (scene: Scene) => Partial<Death>;
}

/** What is not as it should be after a death and a plain run. */
async function damageOf(
  scene: Scene,
  { bring }: Point,
  trees: readonly string[],
): Promise<Record<string, unknown>> {
  putBack(scene);
  const signal = await runUntilDeath(scene, bring(scene));
  const found = treesOf(scene);
  const outcome: Record<string, unknown> = { signal, found, ...(await outcomeOf(scene)) };
  const sound: Record<string, unknown> = {
    signal: "SIGKILL",
    found: trees.slice(0, found.length),
    ...soundOutcome(scene, trees),
  };
  const isWrong = ([key, value]: [string, unknown]): boolean => !isDeepStrictEqual(value, sound[key]);
  return Object.fromEntries(Object.entries(outcome).filter(isWrong));
}

const SIDE_BY_SIDE = 6;

const EVERY = 20;

/** `npm run crash-points` dies at all of them. */
function some(points: readonly Point[]): readonly Point[] {
  return points.filter((_, at) => at % EVERY === 0);
}

/** Dies at each point in turn, in several projects at a time. */
async function damages(
  scene: Scene,
  points: readonly Point[],
  trees: readonly string[],
): Promise<Record<string, unknown>> {
  const waiting = [...points];
  const found: Record<string, unknown> = {};
  const work = async (own: Scene): Promise<void> => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const damage = await damageOf(own, point, trees).catch((error: unknown) => ({ error }));
      if (Object.keys(damage).length > 0) found[point.name] = damage;
    }
  };
  const others = Array.from({ length: SIDE_BY_SIDE - 1 }, async () =>
    work(await openScene(scene.isCheckedOut)),
  );
  await Promise.all([work(scene), ...others]);
  return found;
}

const READS = /^git (rev-parse|merge-base|ls-|cat-file|var|show-ref|status|diff-tree|worktree list)/;

/** Between two steps that change something, everything is as after the first and before the second. */
function stepPoints(steps: readonly string[], from: RegExp, to: RegExp): readonly Point[] {
  const first = steps.findIndex((step) => from.test(step));
  const last = steps.findIndex((step) => to.test(step));
  return steps.flatMap((step, at): Point[] => {
    if (at < first || at > last || READS.test(step)) return [];
    const before: Point = { name: `before step ${at + 1}, ${step}`, bring: () => ({ step: at + 1 }) };
    const half: Point = {
      name: `in the middle of step ${at + 1}, ${step}`,
      bring: () => ({ step: at + 1, when: "half-way" }),
    };
    return /^rm \/home|^sh/.test(step) ? [before, half] : [before];
  });
}

/** Git calls the hook when it has locked references, and when it has moved them. */
function layHooks({ folder }: Scene, at: number, deaths: string): Partial<Death> {
  const hooks = join(folder, "hooks");
  mkdirSync(hooks, { recursive: true });
  const script = `#!/bin/sh
echo $1 $(cut -d" " -f3 | tr "\\n" " ") >> ${hooks}/log
[ $(wc -l < ${hooks}/log) = ${at} ] || exit 0
${deaths}
`;
  writeFileSync(join(hooks, "reference-transaction"), script, { mode: 0o755 });
  return { hooks };
}

const DEATHS = {
  "ralph dies and git goes on": "kill -9 $VICTIM; sleep 0.3",
  "both die": "kill -9 $VICTIM; kill -9 $PPID",
};

function movePoints(moves: readonly string[], deaths: keyof typeof DEATHS, which: RegExp): readonly Point[] {
  const last = moves.findIndex((move) => /^committed .*ralph\/one/.test(move));
  return moves.flatMap((move, at): Point[] =>
    at <= last && which.test(move)
      ? [{ name: `${deaths}: ${move}`, bring: (scene) => layHooks(scene, at + 1, DEATHS[deaths]) }]
      : [],
  );
}

async function look(
  isCheckedOut: boolean,
): Promise<Undisturbed & { readonly scene: Scene; readonly moves: readonly string[] }> {
  const scene = await openScene(isCheckedOut);
  const seen = await undisturbed(scene, layHooks(scene, 0, ""));
  return { ...seen, scene, moves: linesOf(readFileSync(join(scene.folder, "hooks/log"), "utf8")) };
}

describe("kill -9 in the middle of merging, then a plain run: both are merged once, and nothing is lost", () => {
  test("in the user's checkout, at every tenth step of a merge", { timeout: 600_000 }, async () => {
    const { scene, steps, moves, trees } = await look(true);
    const points = [
      ...stepPoints(steps, /merging-/, /^log worktree\.removed/),
      ...movePoints(moves, "both die", /^/),
      ...movePoints(moves, "ralph dies and git goes on", /^prepared .*refs\//),
    ];
    expect(points.length).toBeGreaterThan(50);
    expect(await damages(scene, some(points), trees)).toEqual({});
  });

  test(
    "beside the user's checkout, at every tenth step from the prepared one",
    { timeout: 600_000 },
    async () => {
      const { scene, steps, moves, trees } = await look(false);
      const points = [
        ...stepPoints(steps, /^log merge\.prepared/, /^log task\.merged/),
        ...movePoints(moves, "both die", /refs\//),
        ...movePoints(moves, "ralph dies and git goes on", /^prepared .*refs\//),
      ];
      expect(points.length).toBeGreaterThan(10);
      expect(await damages(scene, some(points), trees)).toEqual({});
    },
  );
});
