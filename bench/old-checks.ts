import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCheckout } from "../src/adapters/git/workspace/checkout.ts";
import { layOldChecks, type Layout } from "../src/adapters/git/workspace/old-checks.ts";
import { figureOf, type Benchmark, type Figure, type Rounds } from "./benchmark.ts";
import { makeRepository, type BenchRepository } from "./repositories.ts";
import { RALPH, sampleFiles } from "./sample-project.ts";
import { BARE_ENV, interleaved, mustRun, timeOf, timeOfAsync } from "./samples.ts";

const ROUNDS = 5;
const TASKS = 8;
const GATE = "sh test/check.sh";
const GATE_MS = 300;
/** The agent works, and changes a comment of the check or a line of the program. */
const CHANGES_CHECK = `cat > /dev/null; echo x > $RALPH_TASK_ID; printf '# %s\\nsleep 0.${GATE_MS / 100}\\n' $RALPH_TASK_ID > test/check.sh; echo '<promise>COMPLETE</promise>'`;
const CHANGES_PROGRAM = "cat > /dev/null; echo x > $RALPH_TASK_ID; echo '<promise>COMPLETE</promise>'";

export const oldChecks: Benchmark = {
  about:
    "What it costs to run the gates again with the checks as they were. First, from the look at the work to the verdict where each task changes the check, and from the end of the agent to the verdict where none does. Then one gate that does nothing, with one old file shown to it: over the work tree in a namespace, or in a copy. Its floor is unsafe: the old file is written into the work tree and the new one afterwards.",
  async measure() {
    const repository = makeRepository(2, 5);
    const verdicts = measureVerdicts(repository);
    repository.dispose();
    return [
      ...verdicts,
      ...(await measureLayouts("10 files", makeRepository(2, 5), 0)),
      ...(await measureLayouts("20,000 files and 30,000 of dependencies", makeRepository(1_000, 20), 2_000)),
    ];
  },
};

function measureVerdicts(repository: BenchRepository): readonly Figure[] {
  const ours = (from: string, agent: string, seconds: number, mode: string): readonly number[] => {
    const files = sampleFiles(TASKS, ["sh", "-c", agent], TASKS + 1);
    const gate = `[[gates]]\nname = "check"\ncommand = "${GATE}"\n[verify]\nold_checks = "${mode}"\n`;
    repository.reset({
      ...files,
      ".ralph/ralph.toml": `${files[".ralph/ralph.toml"]}${gate}`,
      "test/check.sh": `sleep ${seconds}\n`,
    });
    return timeVerdicts(repository.folder, from);
  };
  const gate = (): void => void mustRun("sh", ["-c", `sleep ${GATE_MS / 1_000}`], repository.folder);
  const touched = interleaved(ROUNDS, {
    floor: () => Array.from({ length: TASKS }, () => 2 * timeOf(gate)),
    ours: () => ours("evidence.collected", CHANGES_CHECK, GATE_MS / 1_000, "auto"),
  });
  const untouched = interleaved(ROUNDS, {
    floor: () => ours("iteration.ended", CHANGES_PROGRAM, 0, "never"),
    ours: () => ours("iteration.ended", CHANGES_PROGRAM, 0, "auto"),
  });
  return [
    figureOf(
      {
        name: `a gate of ${GATE_MS} ms, and the check was changed`,
        floorIs: "the gate twice, bare",
        target: { of: "difference", atMost: 100 },
      },
      touched,
    ),
    figureOf(
      {
        name: "a gate of no time, and no check was changed",
        floorIs: 'with old_checks = "never"',
        target: { of: "ratio", atMost: 1.05 },
      },
      untouched,
    ),
  ];
}

/** From a fact to the verdict about the same iteration, by the log. */
function timeVerdicts(folder: string, from: string): readonly number[] {
  const events = mustRun(RALPH, ["run", "--json", "--calls", "0"], folder)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly type: string; readonly at: string });
  const timesOf = (type: string): readonly number[] =>
    events.filter((event) => event.type === type).map(({ at }) => Date.parse(at));
  const begins = timesOf(from);
  const times = timesOf("verdict.reached").map((at, index) => at - (begins[index] ?? at));
  // The first one finds out which layout works here.
  return times.slice(1);
}

async function measureLayouts(
  size: string,
  repository: BenchRepository,
  packages: number,
): Promise<readonly Figure[]> {
  try {
    const { folder } = repository;
    const check = join(folder, "test/check.sh");
    repository.reset({ ".gitignore": "node_modules/\n", "test/check.sh": "old\n" });
    for (let at = 0; at < packages; at += 1) writePackage(join(folder, "node_modules", `package-${at}`));
    writeFileSync(check, "new\n");
    const checkout = await openCheckout(folder, join(folder, ".ralph"));
    const base = await checkout.git.must(["rev-parse", "HEAD"]);
    const run = (command: readonly string[], cwd: string): void => {
      const [program = "", ...args] = command;
      execFileSync(program, args, { cwd, env: BARE_ENV, stdio: "ignore" });
    };
    const inPlace = (): void => {
      writeFileSync(check, "old\n");
      run(["sh", "-c", "true"], folder);
      writeFileSync(check, "new\n");
    };
    const laidOut = async (layout: Layout): Promise<void> => {
      const setBacks = [{ path: "test/check.sh", to: "old" }] as const;
      const tree = await layOldChecks(checkout, base.trim(), setBacks, [layout]);
      run([...tree.prefix, "sh", "-c", "true"], tree.root);
      await tree.dispose();
    };
    const overlay: Layout = process.getuid?.() === 0 ? "root" : "user";
    const figures: Figure[] = [];
    for (const [name, layout] of [
      ["overlay", overlay],
      ["copy", "copy"],
    ] as const) {
      await laidOut(layout);
      const rounds = { floor: [] as number[][], ours: [] as number[][] } satisfies Rounds;
      for (let round = 0; round < ROUNDS; round += 1) {
        rounds.floor.push([timeOf(inPlace), timeOf(inPlace), timeOf(inPlace)]);
        rounds.ours.push([await timeOfAsync(() => laidOut(layout))]);
      }
      figures.push(figureOf({ name: `${size}: ${name}`, floorIs: "in place, unsafe" }, rounds));
    }
    return figures;
  } finally {
    repository.dispose();
  }
}

function writePackage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (let at = 0; at < 15; at += 1) writeFileSync(join(folder, `file-${at}.js`), "module.exports = 1;\n");
}
