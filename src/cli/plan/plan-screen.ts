import type { Progress } from "../../engine/ports.ts";
import type { CliContext } from "../commands.ts";
import { LiveLine } from "../print/live-line.ts";
import { quoted } from "../print/lane-prefixes.ts";
import { progressText } from "../print/run-printer.ts";
import { styleFor } from "../print/style.ts";

/** Shows an agent at work, for whoever looks on: lasting lines, and on a terminal one that moves. */
export interface PlanScreen {
  line(text: string): void;
  readonly progress: (progress: Progress) => void;
  readonly output: (text: string) => void;
  rest(): void;
}

/** With JSON on stdout nothing else is printed there. */
export function planScreen({ stdout, env }: CliContext, isJson: boolean): PlanScreen {
  if (isJson) return { line: () => {}, progress: () => {}, output: () => {}, rest: () => {} };
  const style = styleFor(stdout, env);
  const live = stdout.isTTY ? new LiveLine(stdout, style) : null;
  return {
    line(text) {
      live?.stop();
      stdout.write(`${text}\n`);
    },
    progress: (progress) => live?.show(progressText(progress)),
    output(text) {
      live?.clear();
      stdout.write(style.dim(quoted(text)));
    },
    rest: () => live?.stop(),
  };
}
