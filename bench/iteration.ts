import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { timeBare } from "./floor.ts";
import { timeIterations } from "./iteration-times.ts";
import { makeRepository, type BenchRepository } from "./repositories.ts";
import { sampleFiles } from "./sample-project.ts";
import { interleaved } from "./samples.ts";

/** What an agent does that does next to nothing, so that what is left is ours. */
interface Scene {
  readonly name: string;
  readonly script: string;
  /** The agent claims to be done: we commit what it left, and then the mark. */
  readonly isAccepted: boolean;
}

const LOOKED_AT: Scene = {
  name: "looked at: the agent changes nothing",
  script: "echo working",
  isAccepted: false,
};
const JUDGED: Scene = {
  name: "judged: the agent commits its own work",
  script: 'echo "$RALPH_ITERATION" > work.txt; git add work.txt; git commit -qm work; echo working',
  isAccepted: false,
};
const ACCEPTED: Scene = {
  name: "accepted: ralph commits the work and the mark",
  script: 'echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"',
  isAccepted: true,
};

/** A run lasts a night: its first iterations, in which the program is still being compiled, are left out. */
interface Size {
  readonly name: string;
  readonly folders: number;
  readonly filesEach: number;
  readonly warmUp: number;
  readonly iterations: number;
  readonly rounds: number;
  /** At most so many times the floor; where the agent itself works with git there is no saying. */
  readonly wanted: readonly (readonly [Scene, ratio: number | null])[];
}

const SIZES: readonly Size[] = [
  {
    name: "10 files",
    folders: 2,
    filesEach: 5,
    warmUp: 25,
    iterations: 50,
    rounds: 7,
    wanted: [
      [LOOKED_AT, 1.3],
      [JUDGED, 1.3],
      [ACCEPTED, 1.3],
    ],
  },
  {
    name: "100,000 files in 5,000 folders",
    folders: 5_000,
    filesEach: 20,
    warmUp: 2,
    iterations: 8,
    rounds: 5,
    wanted: [
      [LOOKED_AT, 0.6],
      [JUDGED, null],
      [ACCEPTED, 0.6],
    ],
  },
];

export const iteration: Benchmark = {
  about:
    "From the start of one iteration to the start of the next, the agent's own time included. The floor is the agent's process, two looks at the branch, one `git status` and one durable commit to SQLite, and where we commit, as many commits by hand, in a bare process of its own. To start a process takes longer the more memory is in use: 0.8 ms with that of bare Node, 2.1 ms with ours, twice an iteration; and `git status` alone takes 0.6 × as long on 100,000 files when it remembers folders.",
  async measure() {
    return SIZES.flatMap((size) => {
      const repository = makeRepository(size.folders, size.filesEach);
      try {
        return size.wanted.map(([scene, ratio]) => measureScene(repository, size, scene, ratio));
      } finally {
        repository.dispose();
      }
    });
  },
};

function measureScene(repository: BenchRepository, size: Size, scene: Scene, atMost: number | null): Figure {
  const agent = ["sh", "-c", scene.script];
  const count = size.warmUp + size.iterations + 1;
  const rounds = interleaved(size.rounds, {
    floor: () => {
      repository.reset(sampleFiles(1, agent, 1));
      const { folder } = repository;
      return timeBare({ folder, iterations: size.iterations, agent, withCommits: scene.isAccepted });
    },
    ours: () => {
      repository.reset(sampleFiles(count, agent, scene.isAccepted ? count + 1 : count));
      return timeIterations(repository.folder, { allDone: scene.isAccepted }).slice(size.warmUp);
    },
  });
  const about = { name: `${size.name}, ${scene.name}`, floorIs: "the same done bare" };
  return figureOf(atMost === null ? about : { ...about, target: { of: "ratio", atMost } }, rounds);
}
