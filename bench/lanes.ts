import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { figureOf, type Benchmark } from "./benchmark.ts";
import { RALPH, sampleProject } from "./sample-project.ts";
import { mustRun } from "./samples.ts";

/** All have a worktree for each task, so that nothing differs but how many run at once. */
const LANES = [1, 10, 50] as const;
const TASKS = 50;
/** One takes the better part of a minute: git is asked some fifty times a task. */
const ROUNDS = 3;

interface Usage {
  readonly lanes: number;
  readonly cpuMs: number;
  readonly peakMb: number;
}

export const lanes: Benchmark = {
  about: `${TASKS} tasks in a worktree each, so many of them side by side: what an iteration takes of our own processor time, and our peak memory. The floor is one lane.`,
  async measure() {
    const usages = Array.from({ length: ROUNDS }, () => LANES.map(usageOf)).flat();
    const of = (lanes: number, pick: (usage: Usage) => number): readonly (readonly number[])[] =>
      usages.filter((usage) => usage.lanes === lanes).map((usage) => [pick(usage)]);
    return LANES.slice(1).flatMap((lanes) => {
      const beside = (pick: (usage: Usage) => number) => ({ ours: of(lanes, pick), floor: of(1, pick) });
      return [
        figureOf(
          { name: `${lanes} lanes, processor time of an iteration`, floorIs: "1 lane" },
          beside(({ cpuMs }) => cpuMs / TASKS),
        ),
        figureOf(
          { name: `${lanes} lanes, peak memory`, unit: "MB", floorIs: "1 lane" },
          beside(({ peakMb }) => peakMb),
        ),
      ];
    });
  },
};

function usageOf(lanes: number): Usage {
  const home = mkdtempSync(join(tmpdir(), "ralph-bench-home-"));
  const project = sampleProject(TASKS, ["sh", "-c", meetingAgent(join(home, "met"), lanes)]);
  const [hook, answer] = [join(home, "tell-usage.cjs"), join(home, "usage.json")];
  mkdirSync(join(home, "met"));
  writeFileSync(hook, TELL_USAGE);
  try {
    mustRun(
      RALPH,
      ["run", "--quiet", "--keep-going", "--calls", "0", "--worktree", "--parallel", `${lanes}`],
      project.folder,
      { env: { HOME: home, NODE_OPTIONS: `--require=${hook}`, USAGE_FILE: answer } },
    );
    return { lanes, ...(JSON.parse(readFileSync(answer, "utf8")) as Omit<Usage, "lanes">) };
  } finally {
    project.dispose();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Nobody is done before there is one in every lane. */
function meetingAgent(met: string, lanes: number): string {
  return [
    `echo x > "$RALPH_TASK_ID"; echo x > "${met}/$RALPH_TASK_ID"`,
    `until [ "$(ls "${met}" | wc -l)" -ge ${lanes} ]; do sleep 1; done`,
    'echo "<promise>COMPLETE</promise>"',
  ].join("\n");
}

/** Said by the process itself as it ends: what its children took is not in it, and no moment is missed. */
const TELL_USAGE = `
const fs = require("fs");
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const [, peakKb] = /VmHWM:\\s+(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"));
  const usage = { cpuMs: (user + system) / 1000, peakMb: peakKb / 1024 };
  fs.writeFileSync(process.env.USAGE_FILE, JSON.stringify(usage));
});
`;
