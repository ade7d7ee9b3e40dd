import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Recorded } from "../../src/core/events.ts";
import { recordedIn } from "../crash-points/recorded.ts";
import { createProject, RALPH, WORKS, type Finished, type Project } from "../e2e/project.ts";
import { STRANGER, type Fault } from "./fault.ts";

/**
 * A project with one task done and one to do meets a fault; then it is mended and run again. Answers what is not as it
 * should be: what was said, the exit code, or anything lost, doubled or half-written.
 */
export async function suffer(fault: Fault): Promise<readonly string[]> {
  const project = createProject({ tasks: ["one", "two"] });
  const run = (): Promise<Finished> => runAs(project, fault.asStranger === true);
  const mends: (() => void)[] = [];
  try {
    project.script({ two: [flooding(fault), WORKS] }, [WORKS]);
    project.commit("script");
    if (fault.asStranger === true)
      execFileSync("chown", ["-R", `${STRANGER}:${STRANGER}`, join(project.root, "..")]);
    await runAs(project, fault.asStranger === true, "--task", "one");
    const before = recordedIn(stateOf(project));
    mends.push(fault.breaks(project));
    const met = await run();
    mends.pop()?.();
    const after = await run();
    return [...wrongWith(fault, met), ...wrongAfter(project, before, after)];
  } finally {
    for (const mend of mends) mend();
    project.dispose();
  }
}

function flooding({ flood }: Fault): typeof WORKS {
  return flood === undefined ? WORKS : [{ flood }, ...WORKS];
}

async function runAs(project: Project, asStranger: boolean, ...flags: string[]): Promise<Finished> {
  const as = asStranger ? { uid: STRANGER, gid: STRANGER } : {};
  const child = spawn(RALPH, ["run", ...flags], {
    cwd: project.root,
    env: project.env,
    stdio: "pipe",
    ...as,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, ...output };
}

function wrongWith({ code, says }: Fault, met: Finished): readonly string[] {
  return [
    ...(met.code === code ? [] : [`it ended with ${met.code ?? met.signal} instead of ${code}`]),
    ...(says.test(met.stderr) ? [] : [`it said ${JSON.stringify(met.stderr)}`]),
    ...(/internal error|at .*\.js:\d+/.test(met.stderr) ? ["it takes it for a bug of ours"] : []),
  ];
}

/** Everything that was recorded is there, nothing is done twice, and the rest was done when it was mended. */
export function wrongAfter(
  project: Project,
  before: readonly Recorded[],
  after: Finished,
): readonly string[] {
  const events = recordedIn(stateOf(project));
  const completed = events.flatMap((event) => (event.type === "task.completed" ? [event.task] : []));
  const started = events.flatMap((event) => (event.type === "iteration.started" ? [event.iteration] : []));
  const judged = events.filter((event) => event.type === "verdict.reached").length;
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "safe.directory=*", ...args], {
      cwd: project.root,
      encoding: "utf8",
    }).trimEnd();
  const litter = readdirSync(join(project.root, ".."), { recursive: true })
    .map(String)
    .filter((path) => /\.ralph-tmp-|\.tmp$|\.lock$|ralph-index-|\.filler$/.test(path));
  const rows = project.read(".ralph/logs/summary.csv").trimEnd().split("\n").length - 1;
  const claims: readonly (readonly [boolean, string])[] = [
    [after.code === 0, `after mending it ended with ${after.code}: ${after.stderr}`],
    [after.stderr === "", `after mending it said ${JSON.stringify(after.stderr)}`],
    [isDeepStrictEqual(events.slice(0, before.length), before), "something that was recorded is gone"],
    [events.every(({ position }, index) => position === index + 1), "positions have gaps"],
    [isDeepStrictEqual(completed, ["one", "two"]), `completed: ${completed.join()}`],
    [started.every((number, index) => number === index + 1), `iterations: ${started.join()}`],
    [judged === started.length, "an iteration is not closed"],
    [rows === judged, `summary.csv has ${rows} rows for ${judged} iterations`],
    [!project.read("TODO.md").includes("[ ]"), "the task file is not marked"],
    [git("status", "--porcelain") === "", `uncommitted: ${git("status", "--porcelain")}`],
    [git("ls-files").includes("two.txt"), "the work is not committed"],
    [litter.length === 0, `left: ${litter.join(", ")}`],
    [project.leftovers().length === 0, "processes are left"],
  ];
  return claims.filter(([isSo]) => !isSo).map(([, otherwise]) => otherwise);
}

export function stateOf({ root }: Project): string {
  return join(root, ".git", "ralph");
}
