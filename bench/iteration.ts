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

/** A run lasts a night: its first iterations, in which the program is still being compiled, are left out. */
const SIZES = [
  { name: "10 files", folders: 2, filesEach: 5, warmUp: 25, iterations: 50, rounds: 7 },
  { name: "100,000 files", folders: 100, filesEach: 1_000, warmUp: 2, iterations: 8, rounds: 3 },
] as const;

/** What a task may take before the next one's turn. */
const ITERATIONS_PER_TASK = 30;
const ITERATION_LIMIT_CODE = 1;

/** One iteration of ours beside its floor, on a small repository and on a big one. */
export async function measureIteration(): Promise<readonly string[]> {
  return SIZES.flatMap((size) => {
    const repository = makeRepository(size.folders, size.filesEach);
    try {
      return SCENES.flatMap((scene) => {
        const ms = interleaved(size.rounds, {
          ralph: () => timeRalph(repository, scene, size),
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
function timeRalph(
  repository: BenchRepository,
  { script, isAccepted }: Scene,
  { warmUp, iterations }: Pick<(typeof SIZES)[number], "warmUp" | "iterations">,
): readonly number[] {
  const count = warmUp + iterations + 1;
  const tasks = isAccepted ? count : Math.ceil(count / ITERATIONS_PER_TASK);
  repository.reset(sampleFiles(tasks, ["sh", "-c", script], isAccepted ? count + 1 : count));
  const code = isAccepted ? 0 : ITERATION_LIMIT_CODE;
  mustRun(RALPH, ["run", "--quiet", "--keep-going", "--calls", "0"], repository.folder, { code });
  const starts = readStarts(mustRun(RALPH, ["history", "--jsonl"], repository.folder)).slice(warmUp);
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
