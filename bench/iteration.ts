import { timeBare } from "./floor.ts";
import { makeRepository, type BenchRepository } from "./repositories.ts";
import { RALPH, sampleFiles } from "./sample-project.ts";
import { interleaved, middle, mustRun } from "./samples.ts";

/** What an agent does that does next to nothing, so that what is left is ours. */
interface Scene {
  readonly name: string;
  readonly script: string;
  /** The agent claims to be done: we commit what it left, and then the mark. */
  readonly isAccepted: boolean;
}

const SCENES: readonly Scene[] = [
  {
    name: "judged: the agent commits its own work",
    script: 'echo "$RALPH_ITERATION" > work.txt; git add work.txt; git commit -qm work; echo working',
    isAccepted: false,
  },
  {
    name: "accepted: ralph commits the work and the mark",
    script: 'echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"',
    isAccepted: true,
  },
];

const SIZES = [
  { name: "10 files", folders: 2, filesEach: 5, iterations: 25, rounds: 9 },
  { name: "100,000 files", folders: 100, filesEach: 1_000, iterations: 8, rounds: 3 },
] as const;

const WARM_UP = 2;
const ITERATION_LIMIT_CODE = 1;

/** One iteration of ours beside its floor, on a small repository and on a big one. */
export async function measureIteration(): Promise<readonly string[]> {
  return SIZES.flatMap((size) => {
    const repository = makeRepository(size.folders, size.filesEach);
    try {
      return SCENES.flatMap((scene) => {
        const ms = interleaved(size.rounds, {
          ralph: () => timeRalph(repository, scene, size.iterations),
          floor: () => timeFloor(repository, scene, size.iterations),
        });
        const ralph = middle(ms.ralph);
        const floor = middle(ms.floor);
        return [
          `one iteration in ${size.name}, ${scene.name} (the middle half of ${size.rounds} runs of ${size.iterations})`,
          `  floor  ${floor.toFixed(1).padStart(7)} ms`,
          `  ralph  ${ralph.toFixed(1).padStart(7)} ms   ${(ralph / floor).toFixed(2)} × the floor`,
        ];
      });
    } finally {
      repository.dispose();
    }
  });
}

/** From the start of one iteration to the start of the next, as the log has it. */
function timeRalph(repository: BenchRepository, scene: Scene, iterations: number): readonly number[] {
  const { script, isAccepted } = scene;
  const count = WARM_UP + iterations + 1;
  repository.reset(sampleFiles(isAccepted ? count : 1, ["sh", "-c", script], isAccepted ? count + 1 : count));
  mustRun(RALPH, ["run", "--quiet"], repository.folder, { code: isAccepted ? 0 : ITERATION_LIMIT_CODE });
  const starts = readStarts(mustRun(RALPH, ["history", "--jsonl"], repository.folder)).slice(WARM_UP);
  return starts.slice(1).map((at, index) => at - (starts[index] ?? at));
}

function readStarts(log: string): readonly number[] {
  return log
    .split("\n")
    .filter((line) => line.includes('"iteration.started"'))
    .map((line) => Date.parse((JSON.parse(line) as { at: string }).at));
}

function timeFloor(
  repository: BenchRepository,
  { script, isAccepted }: Scene,
  iterations: number,
): readonly number[] {
  const agent = ["sh", "-c", script];
  repository.reset(sampleFiles(1, agent, 1));
  return timeBare(repository.folder, iterations, { agent, withCommits: isAccepted });
}
