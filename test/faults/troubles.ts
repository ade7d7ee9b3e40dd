import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import Database from "better-sqlite3";
import type { Recorded } from "../../src/core/events.ts";
import { recordedIn } from "../crash-points/recorded.ts";
import {
  createProject,
  type Finished,
  startRalph,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
} from "../e2e/project.ts";
import { stateOf, wrongAfter } from "./suffer.ts";

/** Something that happens, as opposed to a state of the world. Answers what is not as it should be afterwards. */
export interface Trouble {
  readonly name: string;
  /** Also in the check; the others take longer. */
  readonly isQuick?: boolean;
  readonly meet: () => Promise<readonly string[]>;
}

export const TROUBLES: readonly Trouble[] = [
  { name: "two runs that are started at the same moment", isQuick: true, meet: twoRuns },
  { name: "several who write during a run", meet: severalWriters },
  { name: "a clock that is set back by a day between two runs", meet: () => clockSetBack(0) },
  { name: "a clock that is set back by a day during a run", meet: () => clockSetBack(1_500) },
  {
    name: "a state file whose first page is gone",
    meet: () => damaged((file) => overwrite(file, 0, 4096), { isAllSaved: true }),
  },
  {
    name: "a state file whose end is gone",
    isQuick: true,
    meet: () => damaged((file) => overwrite(file, statSync(file).size - 3 * 4096), {}),
  },
  {
    name: "a state file whose index disagrees with its table",
    meet: () => damaged(spoilIndex, { isAllSaved: true }),
  },
  {
    name: "200 flipped bits and cuts anywhere in the state",
    meet: () => flips(200),
  },
];

async function withProject(
  tasks: readonly string[],
  work: (project: Project) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const project = createProject({ tasks });
  try {
    return await work(project);
  } finally {
    project.dispose();
  }
}

function twoRuns(): Promise<readonly string[]> {
  return withProject(["one", "two"], async (project) => {
    const runs = [project.start("run"), project.start("run"), project.start("run")];
    const ended = await Promise.all(runs.map(({ finished }) => finished));
    const [winner, ...more] = ended.filter(({ code }) => code === 0);
    const refused = ended.filter(
      ({ code, stderr }) => code === 64 && stderr.startsWith("ralph: another ralph run"),
    );
    if (winner === undefined || more.length + refused.length !== 2)
      return ended.map(({ code, stderr }) => `one ended with ${code}: ${stderr}`);
    return wrongAfter(project, [], winner);
  });
}

const WRITERS = 4;
const ROUNDS = 3;

/** People do everything at once that they can do while an agent is at work. */
function severalWriters(): Promise<readonly string[]> {
  return withProject(["blocked", "asks", "one", "two"], async (project) => {
    project.script(
      {
        blocked: [[{ promise: "BLOCKED:no key" }], WORKS],
        asks: [[{ promise: "DECIDE:which one?" }], WORKS],
        one: [[TOLD_TO_GO, ...WORKS]],
      },
      [WORKS],
    );
    project.commit("script");
    const run = project.start("run", "--keep-going");
    await until("the third agent works", () => run.stdout().includes("▸ one"));
    const wrong = await writeAtOnce(project);
    const cancels = await Promise.all([project.ralph("cancel", "one"), project.ralph("cancel", "one")]);
    const cancelled = cancels.filter(({ stdout }) => stdout.startsWith("Cancelled")).length;
    const ended = await run.finished;
    const events = recordedIn(stateOf(project));
    const counted = (type: Recorded["type"]): number => events.filter((event) => event.type === type).length;
    const texts = events.flatMap((event) => (event.type === "steer.given" ? [event.text] : []));
    const claims: readonly (readonly [boolean, string])[] = [
      [ended.code === 2, `the run ended with ${ended.code}: ${ended.stderr}`],
      [texts.length === WRITERS * ROUNDS, `${texts.length} messages of ${WRITERS * ROUNDS}`],
      [new Set(texts).size === texts.length, "a message is there twice"],
      [counted("task.unblocked") === 1, `unblocked ${counted("task.unblocked")} times`],
      [counted("question.answered") === 1, `answered ${counted("question.answered")} times`],
      [
        cancelled > 0 && counted("task.cancelled") === cancelled,
        `${counted("task.cancelled")} facts of ${cancelled} who cancelled`,
      ],
      [counted("calls.reset") === ROUNDS, `calls were reset ${counted("calls.reset")} times`],
      [events.every(({ position }, index) => position === index + 1), "positions have gaps"],
      [counted("task.blocked") === 2, "the task that was unblocked was not tried again"],
      [counted("task.completed") === 2, `${counted("task.completed")} of 2 tasks completed`],
    ];
    return [...wrong, ...claims.filter(([isSo]) => !isSo).map(([, otherwise]) => otherwise)];
  });
}

/** Several processes, each with several commands; of those that only one can win, all but one are refused. */
async function writeAtOnce(project: Project): Promise<readonly string[]> {
  const steers = Array.from({ length: WRITERS }, (_, writer) =>
    inTurn(
      project,
      Array.from({ length: ROUNDS }, (__, round) => ["steer", "two", `message ${writer}.${round}`]),
    ),
  );
  const resets = inTurn(
    project,
    Array.from({ length: ROUNDS }, () => ["reset", "--calls"]),
  );
  const unblocks = [1, 2].map(() => inTurn(project, [["unblock", "blocked"]]));
  const answers = [1, 2].map(() => inTurn(project, [["decide", "asks", "the first"]]));
  const plain = (await Promise.all([...steers, resets])).flat();
  const contested = (await Promise.all([...unblocks, ...answers])).flat();
  return [
    ...plain
      .filter(({ code }) => code !== 0)
      .map(({ code, stderr }) => `a command ended with ${code}: ${stderr}`),
    ...contested.filter(({ code }) => code !== 0 && code !== 64).map(({ stderr }) => stderr),
  ];
}

async function inTurn(
  project: Project,
  commands: readonly (readonly string[])[],
): Promise<readonly { readonly code: number | null; readonly stderr: string }[]> {
  const ended = [];
  for (const command of commands) ended.push(await project.ralph(...command));
  return ended;
}

const WRONG_CLOCK = join(import.meta.dirname, "..", "fixtures", "wrong-clock.ts");

function clockSetBack(afterMs: number): Promise<readonly string[]> {
  return withProject(["one", "two"], async (project) => {
    await project.ralph("run", "--task", "one");
    const before = recordedIn(stateOf(project));
    const env = {
      ...project.env,
      NODE_OPTIONS: `--import ${WRONG_CLOCK}`,
      RALPH_TEST_CLOCK_MS: String(-86_400_000),
      RALPH_TEST_CLOCK_AFTER_MS: String(afterMs),
    };
    const after = await startRalph(project.root, env, ["run"]).finished;
    const durations = project
      .read(".ralph/logs/summary.csv")
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((row) => Number(row.split(",")[2]));
    const shown = await project.ralph("status");
    return [
      ...wrongAfter(project, before, after),
      ...(durations.every((seconds) => seconds >= 0 && seconds < 600)
        ? []
        : [`durations: ${durations.join()}`]),
      ...(/^Duration: +\d/m.test(after.stdout) ? [] : [`the summary says: ${after.stdout}`]),
      ...(shown.code === 0 && !/-\d/.test(shown.stdout) ? [] : [`status says: ${shown.stdout}`]),
    ];
  });
}

/** The history is long enough to have something before and after the damage. */
function damaged(
  spoil: (file: string) => void,
  { isAllSaved = false }: { readonly isAllSaved?: boolean },
): Promise<readonly string[]> {
  const tasks = ["a", "b", "c", "d", "e", "f", "g"];
  return withProject([...tasks, "last"], async (project) => {
    await project.ralph("run", ...tasks.flatMap((task) => ["--task", task]));
    const before = recordedIn(stateOf(project));
    spoil(join(stateOf(project), "state.db"));
    const told = await project.ralph("run");
    const next = told.code === 0 ? told : await project.ralph("run");
    const saved = Number(/(?:all )?(\d+) events/.exec(told.stderr)?.[1] ?? 0);
    const events = recordedIn(stateOf(project));
    const numbers = events.flatMap((event) => (event.type === "iteration.started" ? [event.iteration] : []));
    const judged = events.filter((event) => event.type === "verdict.reached").length;
    const rows = project.read(".ralph/logs/summary.csv").trimEnd().split("\n").length - 1;
    const claims: readonly (readonly [boolean, string])[] = [
      [next.code === 0, `it ended with ${next.code}: ${next.stderr}`],
      [/^ralph: .* was damaged and has been set aside as .*\n/.test(told.stderr), `it said ${told.stderr}`],
      [isAllSaved ? saved === before.length : saved > 5, `${saved} of ${before.length} events were saved`],
      [
        isDeepStrictEqual(events.slice(0, saved), before.slice(0, saved)),
        "what was saved is not what it was",
      ],
      [events.every(({ position }, index) => position === index + 1), "positions have gaps"],
      [numbers.at(-1) === tasks.length + 1, `numbers: ${numbers.join()}`],
      [new Set(numbers).size === numbers.length, `numbers: ${numbers.join()}`],
      [rows === judged, `summary.csv has ${rows} rows for ${judged} iterations`],
      [!project.read("TODO.md").includes("[ ]"), "the task file is not marked"],
      [project.leftovers().length === 0, "processes are left"],
    ];
    return claims.filter(([isSo]) => !isSo).map(([, otherwise]) => otherwise);
  });
}

/** Of everything that a run leaves in the state folder, one bit, or the end of one file. */
function flips(count: number): Promise<readonly string[]> {
  return withProject(["one", "two", "three"], async (project) => {
    const folder = stateOf(project);
    await project.ralph("run", "--task", "one");
    await project.ralph("run", "--task", "two");
    const sound = join(project.root, "..", "sound");
    cpSync(project.root, sound, { recursive: true });
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      statSync(join(folder, name)).isFile(),
    );
    const history = async (): Promise<Finished> => project.ralph("history", "--jsonl");
    const before = (await history()).stdout;
    const wrong: string[] = [];
    for (let seed = 0; seed < count; seed += 1) {
      rmSync(project.root, { recursive: true });
      cpSync(sound, project.root, { recursive: true });
      // The log is by far the longest; the small ones have their turn as well.
      const name = (seed % 4 === 3 ? files[seed % files.length] : "state.db") ?? "state.db";
      const how = spoil(join(folder, name), seed);
      const told = [await history(), await project.ralph("status"), await project.ralph("run", "--quiet")];
      const last = told[2]?.code === 0 ? told[2] : await project.ralph("run", "--quiet");
      const [read, again] = [told[0], await history()];
      const isSaid = told.some(({ stderr }) => /\n? {2}→ |set aside/.test(stderr));
      const claims: readonly (readonly [boolean, string])[] = [
        [told.every(({ code }) => code !== 70 && code !== null), "a bug is reported"],
        [last.code === 0 || / {2}→ .*(mv|echo|git|ralph) /.test(last.stderr), `a dead end: ${last.stderr}`],
        [before.startsWith(read?.stdout ?? "") || before === again.stdout, "a fact is another one"],
        [again.stdout.startsWith(before) || isSaid, "facts are gone, and nobody is told"],
      ];
      for (const [isSo, otherwise] of claims)
        if (!isSo)
          wrong.push(
            `${seed}: ${name} ${how}: ${otherwise}; ${told.map(({ code, stderr }) => `${code} ${stderr}`).join(" | ")}`,
          );
    }
    return wrong;
  });
}

function spoil(file: string, seed: number): string {
  const bytes = readFileSync(file);
  const at = bytes.length === 0 ? 0 : (seed * 7_919 + seed ** 3) % bytes.length;
  if (seed % 8 >= 6) truncateSync(file, at);
  else writeFileSync(file, bytes.fill((bytes[at] ?? 0) ^ (1 << (seed % 8)), at, at + 1));
  return `${seed % 8 >= 6 ? "cut" : "flipped"} at ${at}`;
}

function overwrite(file: string, from: number, bytes = statSync(file).size - from): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(bytes, 0xee), 0, bytes, from);
  closeSync(descriptor);
}

function spoilIndex(file: string): void {
  const db = new Database(file);
  const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_time'").pluck().get();
  db.close();
  overwrite(file, (Number(root) - 1) * 4096, 4096);
}
