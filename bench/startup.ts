import { spawn } from "node:child_process";
import { once } from "node:events";
import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { RALPH, ROOT, sampleProject } from "./sample-project.ts";
import { BARE_ENV, interleaved, mustRun, timeOf, timeOfAsync } from "./samples.ts";

const ROUNDS = 31;
const FRAMES = 11;
const NODE = `${ROOT}/node_modules/node/bin/node`;
const FLOOR = "bare Node";

const COMMANDS = [
  { name: "help", args: ["--help"], more: 25 },
  { name: "status", args: ["status", "--json"], more: 50 },
  { name: "hook", args: ["hook", "post-tool-use"], more: 40 },
] as const;

export const startup: Benchmark = {
  about: "From the start of a command to its end; of the monitor, to its first frame.",
  async measure() {
    const project = sampleProject(3, [
      "sh",
      "-c",
      'echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"',
    ]);
    try {
      mustRun(RALPH, ["run", "--quiet"], project.folder);
      return [
        ...COMMANDS.map((command) => timeCommand(project.folder, command)),
        await timeMonitor(project.folder),
      ];
    } finally {
      project.dispose();
    }
  },
};

function timeCommand(folder: string, { name, args, more }: (typeof COMMANDS)[number]): Figure {
  const rounds = interleaved(ROUNDS, {
    floor: () => [timeOf(() => mustRun(NODE, ["-e", ""], folder))],
    ours: () => [timeOf(() => mustRun(RALPH, args, folder, { input: "{}" }))],
  });
  const target = { of: "difference", atMost: more } as const;
  return figureOf(
    { name: `ralph ${args[0] === "--help" ? "--help" : name}`, floorIs: FLOOR, target },
    rounds,
  );
}

async function timeMonitor(folder: string): Promise<Figure> {
  const [ours, floor]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < FRAMES; round += 1) {
    floor.push([timeOf(() => mustRun(NODE, ["-e", ""], folder))]);
    ours.push([await timeOfAsync(() => firstFrame(folder))]);
  }
  return figureOf({ name: "first frame of ralph monitor", floorIs: FLOOR }, { ours, floor });
}

/** In a terminal of its own, until the name of a task is on it. */
async function firstFrame(folder: string): Promise<void> {
  const child = spawn("script", ["-qfec", `${RALPH} monitor`, "/dev/null"], {
    cwd: folder,
    env: { ...BARE_ENV, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let screen = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    screen += chunk.toString();
    if (screen.includes("task-1")) break;
  }
  if (!screen.includes("task-1")) throw new Error(`the monitor showed no task: ${screen}`);
  child.stdin.write("q");
  child.stdout.resume();
  if (child.exitCode === null) await once(child, "exit");
}
