// `npm run crash-points`: kills the built program at every step of a small but complete run, serial, with two lanes, with
// stages, with merges that conflict, while a damaged log is mended, and while old checks run and a reader reads, runs it again,
// and looks whether anything is lost, doubled or left behind. Workers die at random moments only.
//   --scene NAME,…         only these of scene.ts; `--scene "old-checks*"`: all that begin so
//   --from N --count N     only these steps; --when before|half-way: only so
//   --every N              only each Nth of these points
//   --random N --seed N    instead of steps, N random moments of each scene
//   --side-by-side N       so many projects at a time
//   --json                 last, the figures as one line; --record keeps them in docs/proof/figures
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import { explore, pointsOf, randomPoints, type Failure, type Point } from "./explore.ts";
import { SCENES, type SceneName } from "./scene.ts";

const { values } = parseArgs({
  options: {
    scene: { type: "string" },
    from: { type: "string", default: "1" },
    count: { type: "string", default: "Infinity" },
    when: { type: "string" },
    every: { type: "string", default: "1" },
    random: { type: "string" },
    seed: { type: "string", default: "1" },
    "side-by-side": { type: "string", default: "4" },
    json: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

const startedAt = performance.now();
const names: readonly Point["scene"][] = [
  ...(Object.keys(SCENES) as SceneName[]),
  ...(values.random === undefined ? [] : (["workers"] as const)),
];
const wanted = values.scene?.split(",");
const scenes = names.filter(
  (name) =>
    wanted?.some((one) => name === one || (one.endsWith("*") && name.startsWith(one.slice(0, -1)))) ?? true,
);
const figures: Record<string, number> = {};
let failed = 0;
for (const scene of scenes) {
  const { points, deaths, failures } = await explore(
    await chosenPoints(scene),
    Number(values["side-by-side"]),
    tellFailure,
  );
  console.log(`${scene}: ${points} points, ${deaths} deaths, ${failures.length} failures`);
  Object.assign(figures, {
    [`${scene}: points`]: points,
    [`${scene}: deaths`]: deaths,
    [`${scene}: failures`]: failures.length,
  });
  failed += failures.length;
}
figures["seconds"] = Math.round((performance.now() - startedAt) / 1_000);
if (values.record) {
  const isRandom = values.random !== undefined;
  const flags = isRandom ? ` -- --random ${values.random}` : "";
  const scene = values.scene === undefined ? "" : ` --scene ${values.scene}`;
  const name = `${isRandom ? "crash-moments" : "crash-points"}${scene === "" ? "" : "-more"}`;
  console.log(`written: ${recordFigures(name, `npm run crash-points${flags}${scene}`, figures)}`);
}
if (values.json) console.log(JSON.stringify(figures));
process.exitCode = failed === 0 ? 0 : 1;

async function chosenPoints(scene: Point["scene"]): Promise<readonly Point[]> {
  if (values.random !== undefined || scene === "workers")
    return randomPoints(scene, Number(values.random), Number(values.seed));
  const from = Number(values.from);
  const points = (await pointsOf(scene)).filter(
    (point) =>
      "step" in point &&
      point.step >= from &&
      point.step < from + Number(values.count) &&
      (values.when === undefined || values.when === point.when),
  );
  return points.filter((_, index) => index % Number(values.every) === 0);
}

function tellFailure({ point, step, violations }: Failure): void {
  const isMoment = "ms" in point;
  const where = isMoment ? `after ${point.ms} ms` : `${point.when} step ${point.step}, ${step}`;
  console.log(`${point.scene}: death ${where}`);
  for (const violation of violations) console.log(`  ${violation}`);
  const flags = isMoment
    ? `--random ${values.random} --seed ${values.seed}`
    : `--from ${point.step} --count 1 --when ${point.when}`;
  console.log(`  repeat: npm run crash-points -- --scene ${point.scene} ${flags}`);
}
