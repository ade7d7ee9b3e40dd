import { join } from "node:path";
import { Random } from "../../src/eval/random.ts";
import { recordedIn } from "./recorded.ts";
import {
  hasOldChecks,
  openScene,
  putBack,
  runForMs,
  runUntilDeath,
  SCENES,
  type Died,
  type Scene,
  type SceneName,
} from "./scene.ts";
import { changedWorkTrees, unacceptedWork, violationsIn } from "./violations.ts";
import { killWorker, openWorkers, workForMs, type WorkersScene } from "./workers.ts";

/** Where ralph dies: at a step, or after so many milliseconds. A worker dies at moments only. */
export type Point =
  { readonly scene: SceneName; readonly step: number; readonly when: "before" | "half-way" } | Moment;

interface Moment {
  readonly scene: SceneName | "workers";
  readonly ms: number;
}

export interface Failure {
  readonly point: Point;
  /** What it was about to do. */
  readonly step: string;
  readonly violations: readonly string[];
}

export interface Explored {
  readonly points: number;
  /** In the others it had come to its end before. */
  readonly deaths: number;
  readonly failures: readonly Failure[];
}

/** Steps that change nothing: what they find is what the step before left. */
const READS =
  /^git (rev-parse|merge-base|ls-|cat-file|var|show-ref|for-each-ref|config|status|diff-tree|worktree list)|^sqlite \S+ (BEGIN|SAVEPOINT|RELEASE|synchronous)/;
const RUN_BEGINS = /\/repository\/\.ralph\//;
const OLD_CHECKS_BEGIN = /^mkdtemp \S*\/ralph-old-checks-/;
const HAS_MIDDLE = /^(write|writeFile|appendFile|rm|git|sh|\/\S*\/(unshare|mknod)) /;

/** Every point of an undisturbed run of a scene; that run itself must be faultless. */
export async function pointsOf(name: SceneName): Promise<readonly Point[]> {
  const scene = await openScene(name);
  try {
    const { steps: all } = await runUntilDeath(scene, { step: 0, when: "before" });
    const found = violationsIn(scene, [], await scene.project.ralph(...SCENES[name].args));
    if (found.length > 0) throw new Error(`without any death: ${found.join("; ")}`);
    // Of some only a part is of interest: the others have the rest.
    const from = hasOldChecks(name) ? all.findIndex((step) => OLD_CHECKS_BEGIN.test(step)) : 0;
    const to = name === "mending" ? all.findIndex((step) => RUN_BEGINS.test(step)) : all.length;
    return all.flatMap((step, index): readonly Point[] => {
      if (READS.test(step) || index < from || index >= to) return [];
      const before: Point = { scene: name, step: index + 1, when: "before" };
      return HAS_MIDDLE.test(step) ? [before, { ...before, when: "half-way" }] : [before];
    });
  } finally {
    scene.project.dispose();
  }
}

/** Random moments of a run, by how long one takes here and now. */
export async function randomPoints(
  name: Moment["scene"],
  count: number,
  seed: number,
): Promise<readonly Moment[]> {
  const tried = await openTried(name);
  try {
    const startedAt = performance.now();
    await ("team" in tried ? workForMs(tried, Infinity) : runForMs(tried, Infinity));
    const longestMs = Math.round(performance.now() - startedAt);
    const random = new Random(seed);
    return Array.from({ length: count }, () => ({ scene: name, ms: random.between(50, longestMs) }));
  } finally {
    await disposeOf(tried);
  }
}

type Tried = Scene | WorkersScene;

function openTried(name: Moment["scene"]): Promise<Tried> {
  return name === "workers" ? openWorkers() : openScene(name);
}

async function disposeOf(tried: Tried): Promise<void> {
  await ("team" in tried ? tried.dispose() : tried.project.dispose());
}

/** Dies at each point, in several projects at a time. */
export async function explore(
  points: readonly Point[],
  sideBySide: number,
  tell: (failure: Failure) => void = () => {},
): Promise<Explored> {
  const waiting = [...points];
  const failures: Failure[] = [];
  let deaths = 0;
  const work = async (): Promise<void> => {
    const scenes = new Map<Point["scene"], Tried>();
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const scene = scenes.get(point.scene) ?? (await openTried(point.scene));
      scenes.set(point.scene, scene);
      const { died, violations } = await dieAt(scene, point);
      if (died.signal === "SIGKILL") deaths += 1;
      if (violations.length === 0) continue;
      const failure = { point, step: died.steps.at(-1) ?? "", violations };
      failures.push(failure);
      tell(failure);
    }
    for (const scene of scenes.values()) await disposeOf(scene);
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
  return { points: points.length, deaths, failures };
}

async function dieAt(
  scene: Tried,
  point: Point,
): Promise<{ readonly died: Died; readonly violations: readonly string[] }> {
  if ("team" in scene) {
    const { signal, violations } = await killWorker(scene, "ms" in point ? point.ms : Infinity);
    return { died: { signal, steps: [] }, violations };
  }
  putBack(scene);
  const died = "ms" in point ? await runForMs(scene, point.ms) : await runUntilDeath(scene, point);
  const atDeath =
    scene.name === "mending" ? scene.recorded : recordedIn(join(scene.project.root, ".git", "ralph"));
  const changed = [...changedWorkTrees(scene, atDeath), ...unacceptedWork(scene, atDeath)];
  const last = await scene.project.ralph(...SCENES[scene.name].args);
  try {
    return { died, violations: [...changed, ...violationsIn(scene, atDeath, last)] };
  } catch (error) {
    const said = `the next run ended with ${last.code ?? last.signal}, and said: ${last.stdout}${last.stderr}`;
    return { died, violations: [`it cannot even be looked at: ${String(error)}; ${said}`] };
  }
}
