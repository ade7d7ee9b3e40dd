import type { Failure } from "../core/report/agent-report.ts";
import type { ExpectedPromise } from "../core/report/read-promise.ts";
import { createSignalReader } from "../core/report/read-signals.ts";
import type { SignalReport } from "../core/report/signals.ts";
import type { Behaviour } from "./imagined-agent.ts";
import type { ImaginedTask } from "./imagined-task.ts";

/** The last words of an agent. It names the files of the task whether or not it wrote them. */
export function wordsOf({ files }: ImaginedTask, behaviour: Behaviour, promise: string): readonly string[] {
  const named = files.map((path) => `- Wrote ${path}`);
  switch (behaviour.says) {
    case "done":
      return [
        ...named,
        "",
        behaviour.speaksOfTodos
          ? "Remaining work: none of mine, but the old importer is not yet implemented."
          : "All of it is in place.",
        "",
        `<promise>${promise}</promise>`,
      ];
    case "unfinished":
      return ["The first half is there, the rest follows in the next iteration."];
    case "nothing":
      return ["This is how it can be done; the code is ready."];
  }
}

/** As the words of any agent are read. There are few different ones, and they are said in every variant of a world. */
export function readWords(
  words: readonly string[],
  promise: ExpectedPromise,
  failure: Failure | null,
): SignalReport {
  const text = words.join("\n");
  const key = `${failure === null} ${promise.completion} ${text}`;
  const known = READ.get(key);
  if (known !== undefined) return known;
  const reader = createSignalReader(promise);
  for (const line of words) reader.readLine(line);
  const report = reader.report(failure);
  READ.set(key, report);
  return report;
}

/** What is read of an agent that was killed is the same after any time. */
const READ = new Map<string, SignalReport>();
