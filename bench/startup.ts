import { RALPH, ROOT, sampleProject } from "./sample-project.ts";
import { interleaved, median, mustRun, timeOf } from "./samples.ts";

const ROUNDS = 31;
const NODE = `${ROOT}/node_modules/node/bin/node`;

/** What `--help` and `status` cost over the bare Node that runs them. */
export async function measureStartup(): Promise<readonly string[]> {
  const project = sampleProject(3, [
    "sh",
    "-c",
    'echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"',
  ]);
  const { folder } = project;
  mustRun(RALPH, ["run", "--quiet"], folder);
  const ms = interleaved(ROUNDS, {
    bare: () => [timeOf(() => mustRun(NODE, ["-e", ""], folder))],
    help: () => [timeOf(() => mustRun(RALPH, ["--help"], folder))],
    status: () => [timeOf(() => mustRun(RALPH, ["status", "--json"], folder))],
  });
  project.dispose();
  const bare = median(ms.bare);
  const row = (name: "help" | "status"): string => {
    const time = median(ms[name]);
    return `  ${name.padEnd(8)} ${time.toFixed(1).padStart(7)} ms   +${(time - bare).toFixed(1)} ms   ${(time / bare).toFixed(2)} × bare Node`;
  };
  return [
    `start-up (median of ${ROUNDS}, interleaved)`,
    `  bare     ${bare.toFixed(1).padStart(7)} ms`,
    row("help"),
    row("status"),
  ];
}
