import { timeBare } from "./floor.ts";
import { makeRepository, type BenchRepository } from "./repositories.ts";
import { RALPH, sampleFiles } from "./sample-project.ts";
import { interleaved, mustRun, timeOf } from "./samples.ts";

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

const ITERATIONS_APART = 2;
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
        const { ralph = Number.NaN, floor = Number.NaN } = ms;
        return [
          `one iteration in ${size.name}, ${scene.name} (median of ${size.rounds} runs of ${size.iterations})`,
          `  floor  ${floor.toFixed(1).padStart(7)} ms`,
          `  ralph  ${ralph.toFixed(1).padStart(7)} ms   ${(ralph / floor).toFixed(2)} × the floor`,
        ];
      });
    } finally {
      repository.dispose();
    }
  });
}

/** The difference between a long run and a short one, so that start and end do not count. */
function timeRalph(repository: BenchRepository, { script, isAccepted }: Scene, iterations: number): number {
  const timeRun = (count: number): number => {
    repository.reset(
      sampleFiles(isAccepted ? count : 1, ["sh", "-c", script], isAccepted ? count + 1 : count),
    );
    const code = isAccepted ? 0 : ITERATION_LIMIT_CODE;
    return timeOf(() => mustRun(RALPH, ["run", "--quiet"], repository.folder, { code }));
  };
  const short = timeRun(ITERATIONS_APART);
  return (timeRun(ITERATIONS_APART + iterations) - short) / iterations;
}

function timeFloor(repository: BenchRepository, { script, isAccepted }: Scene, iterations: number): number {
  const agent = ["sh", "-c", script];
  repository.reset(sampleFiles(1, agent, 1));
  return timeBare(repository.folder, iterations, { agent, withCommits: isAccepted });
}
