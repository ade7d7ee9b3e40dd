import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import Database from "better-sqlite3";
import type { Recorded } from "../../src/core/events.ts";
import type { Finished } from "../e2e/project.ts";
import { recordedIn } from "./recorded.ts";
import { hasOldChecks, isInLanes, isTogether, type Scene } from "./scene.ts";

const TASKS = ["one", "two"];
const TODO = "# Tasks\n\n- [x] **one**: make one\n- [x] **two**: make two\n";

/** What is not as it should be after a death and a plain run, each in a sentence. */
export function violationsIn(scene: Scene, atDeath: readonly Recorded[], last: Finished): readonly string[] {
  const events = recordedIn(join(scene.project.root, ".git", "ralph"));
  return [
    ...inTheRun(last, scene),
    ...inTheLog(events, atDeath, scene),
    ...inTheRepository(scene, events),
    ...inTheViews(scene, events),
    ...leftBehind(scene),
  ];
}

/** Work trees that are not as a gate has photographed them, although their claim is still being looked at. */
export function changedWorkTrees(
  { project, folder }: Scene,
  atDeath: readonly Recorded[],
): readonly string[] {
  const of = (type: Recorded["type"]): ReadonlySet<number> =>
    new Set(atDeath.flatMap((event) => (event.type === type && "iteration" in event ? event.iteration : [])));
  const [checked, judged] = [of("gates.checked"), of("verdict.reached")];
  const heads = atDeath.flatMap((event) => {
    const isOpen =
      event.type === "evidence.collected" && checked.has(event.iteration) && !judged.has(event.iteration);
    return isOpen ? [event.evidence.headAfter] : [];
  });
  const home = join(folder, "home");
  return project
    .git("worktree", "list", "--porcelain")
    .split("\n\n")
    .map((text) => /^worktree (.*)\nHEAD (.*)/.exec(text))
    .flatMap((found) => {
      const [, root = "", head = ""] = found ?? [];
      const photograph = join(home, `photo-${head}`);
      if (!heads.includes(head) || !existsSync(photograph) || basename(root).startsWith("@")) return [];
      const before = readFileSync(photograph, "utf8").split("\n");
      const now = execFileSync("sh", [join(home, "photograph.sh")], { cwd: root, encoding: "utf8" }).split(
        "\n",
      );
      const other = [
        ...before.filter((line) => !now.includes(line)),
        ...now.filter((line) => !before.includes(line)),
      ];
      return claim(other.length === 0, `${root} changed: ${other.join("; ")}`);
    });
}

/** Work on the operator's branch, at the moment of a death, of more tasks than the one that may be under way there. */
export function unacceptedWork(
  { project, name, before }: Scene,
  atDeath: readonly Recorded[],
): readonly string[] {
  const accepted = new Set(atDeath.flatMap((event) => (event.type === "task.completed" ? [event.task] : [])));
  const changed = project.git("diff", "--name-only", before, "main").split("\n");
  const open = TASKS.filter((task) => changed.includes(`${task}.txt`) && !accepted.has(task));
  const most = isInLanes(name) ? 0 : 1;
  return claim(open.length <= most, `main has unaccepted work of ${open.join()} at the death`);
}

export function claim(isSo: boolean, otherwise: string): readonly string[] {
  return isSo ? [] : [otherwise];
}

const MENDED =
  /^ralph: .* was damaged and has been set aside as .*; all \d+ events that it held were saved\n$/;

function inTheRun({ code, signal, stderr }: Finished, { name }: Scene): readonly string[] {
  const mayBeSaid = name === "mending" && MENDED.test(stderr);
  return [
    ...claim(code === 0, `the next run ended with ${code ?? signal}`),
    ...claim(stderr === "" || mayBeSaid, `the next run said: ${stderr.trim()}`),
  ];
}

function inTheLog(
  events: readonly Recorded[],
  atDeath: readonly Recorded[],
  { name }: Scene,
): readonly string[] {
  const numbers = (type: Recorded["type"]): readonly number[] =>
    events
      .flatMap((event) => (event.type === type && "iteration" in event ? [event.iteration] : []))
      .toSorted((a, b) => a - b);
  const tasks = (type: Recorded["type"]): readonly string[] =>
    events
      .flatMap((event) => (event.type === type && "task" in event ? [String(event.task)] : []))
      .toSorted();
  const runs = (type: Recorded["type"]): number => events.filter((event) => event.type === type).length;
  const started = numbers("iteration.started");
  const once = ["task.completed", isInLanes(name) ? "task.merged" : "task.marked"] as const;
  return [
    ...claim(
      isDeepStrictEqual(events.slice(0, atDeath.length), atDeath),
      "something that was recorded is gone or different",
    ),
    ...claim(
      events.every(({ position }, index) => position === index + 1),
      "positions have gaps",
    ),
    ...claim(
      started.every((number, index) => number === index + 1),
      `iterations began as ${started.join()}`,
    ),
    ...(["iteration.ended", "verdict.reached"] as const).flatMap((type) =>
      claim(isDeepStrictEqual(numbers(type), started), `${type} of ${numbers(type).join()}`),
    ),
    ...once.flatMap((type) => {
      // What conflicts with the base is done anew.
      const again = type === "task.completed" ? tasks("merge.failed") : [];
      const wanted = [...TASKS, ...again].toSorted();
      return claim(isDeepStrictEqual(tasks(type), wanted), `${type} of ${tasks(type).join()}`);
    }),
    ...(hasOldChecks(name)
      ? [
          ...claim(
            isDeepStrictEqual(tasks("old-checks.ran"), TASKS),
            `old checks of ${tasks("old-checks.ran").join()}`,
          ),
          ...claim(
            tasks("reader.answered").join() === "one",
            `readings of ${tasks("reader.answered").join()}`,
          ),
          ...claim(tasks("reader.asked").length >= 1, "the reader was never asked"),
        ]
      : []),
    ...claim(runs("run.started") === runs("run.ended"), "a run is still open"),
  ];
}

function inTheRepository(scene: Scene, events: readonly Recorded[]): readonly string[] {
  const { project, before, name } = scene;
  const lines = (...args: string[]): readonly string[] =>
    project
      .git(...args)
      .split("\n")
      .filter((line) => line !== "");
  const show = (path: string): string => project.git("show", `main:${path}`);
  const uncounted = uncountedCommits(scene, events);
  return [
    ...claim(project.read("TODO.md") === TODO, `the task file is ${JSON.stringify(project.read("TODO.md"))}`),
    ...claim(show("TODO.md") === TODO.trimEnd(), "the committed task file is another one"),
    ...TASKS.flatMap((task) =>
      claim(/^right(\nright)*$/.test(show(`${task}.txt`)), `the work of ${task} is not in main`),
    ),
    ...claim(
      lines("diff", "--name-only", before, "main").join() ===
        `TODO.md,one.txt${isTogether(name) ? ",shared.txt" : ""}${hasOldChecks(name) ? ",test/one.sh,test/two.sh" : ""},two.txt`,
      `main changed ${lines("diff", "--name-only", before, "main").join()}`,
    ),
    ...claim(project.git("status", "--porcelain") === "", `dirty: ${project.git("status", "--porcelain")}`),
    ...claim(lines("fsck", "--connectivity-only", "--no-dangling").length === 0, "git fsck complains"),
    ...claim(lines("worktree", "list").length === 1, "a worktree is left"),
    ...claim(lines("branch", "--list", "ralph/aside/*").length === 0, "work is still aside"),
    ...claim(uncounted.length === 0, `commits that no fact knows: ${uncounted.join(", ")}`),
  ];
}

/** Of the base, and of the branches that were merged. */
function uncountedCommits({ project, name, before }: Scene, events: readonly Recorded[]): readonly string[] {
  const range = (from: string | null, to: string | null): readonly string[] =>
    from === null || to === null ? [] : project.git("rev-list", `${from}..${to}`).split("\n");
  const known = new Set(
    events.flatMap((event) => {
      if (event.type === "evidence.collected")
        return range(event.evidence.headBefore, event.evidence.headAfter);
      if (event.type === "task.marked") return event.commit === null ? [] : [event.commit];
      if (event.type === "work.returning") return range(event.from, event.to);
      return event.type === "task.merged" ? [event.to] : [];
    }),
  );
  const tips = isInLanes(name) ? ["main", ...TASKS.map((task) => `ralph/merged/${task}`)] : ["main"];
  const all = project.git("log", "--format=%H %s", ...tips, "--not", before).split("\n");
  return all.filter((line) => line !== "" && !known.has(line.split(" ", 1)[0] ?? ""));
}

function inTheViews({ project }: Scene, events: readonly Recorded[]): readonly string[] {
  const judged = events.flatMap((event) => (event.type === "verdict.reached" ? [event.iteration] : []));
  const rows = project.read(".ralph/logs/summary.csv").trimEnd().split("\n").slice(1);
  const records = project.read(".ralph/logs/execution.jsonl").trimEnd().split("\n");
  const status = JSON.parse(project.read(".ralph/status.json")) as { run?: { exit_code?: number } };
  const transcripts = events.flatMap((event) =>
    event.type === "iteration.ended" ? [event.report.transcript] : [],
  );
  return [
    ...claim(
      isDeepStrictEqual(
        rows.map((row) => Number(row.split(",", 1)[0])),
        judged,
      ),
      `summary.csv has rows of ${rows.map((row) => row.split(",", 1)[0]).join()}, verdicts are of ${judged.join()}`,
    ),
    ...claim(
      records.length === judged.length && records.every((line) => isJson(line)),
      "execution.jsonl does not have one record an iteration",
    ),
    ...claim(status.run?.exit_code === 0, "status.json does not say that all is done"),
    ...transcripts.flatMap(({ path, bytes, sha256 }) =>
      claim(
        bytes === 0 || hashOf(join(project.root, ".ralph", path)) === sha256,
        `${path} is not what was recorded`,
      ),
    ),
  ];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function hashOf(file: string): string | null {
  return existsSync(file) ? createHash("sha256").update(readFileSync(file)).digest("hex") : null;
}

/** Nothing that looks so has any use after a run. */
const LITTER = new RegExp(
  [
    String.raw`\.tmp$`,
    String.raw`\.lock$`,
    String.raw`\.db\.mended`,
    String.raw`/\.ralph-tmp-`,
    "^repository/\\.git/ralph-index-",
    "^repository/\\.git/ralph/(lock\\.json$|scratch/)",
    "^repository/\\.git/worktrees/",
    "^repository/\\.ralph/(active|progress)\\.json$",
    "^home/\\.local/state/ralph/[^/]+/",
    "^tmp/",
  ].join("|"),
);

function leftBehind({ project, folder }: Scene): readonly string[] {
  const files = ["repository", "home", "tmp"]
    .flatMap((place) =>
      readdirSync(join(folder, place), { recursive: true }).map((path) => join(place, String(path))),
    )
    .filter((path) => LITTER.test(path));
  const processes = project.leftovers();
  return [
    ...claim(files.length === 0, `files are left: ${files.join(", ")}`),
    ...claim(processes.length === 0, `processes are left: ${processes.join(", ")}`),
    ...claim(isFree(join(project.root, ".git", "ralph", "lock.db")), "the lock is held"),
  ];
}

export function isFree(file: string): boolean {
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
    return true;
  } catch {
    return false; // held: that is the answer
  } finally {
    db.close();
  }
}
