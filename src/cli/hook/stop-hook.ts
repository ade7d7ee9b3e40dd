import { join } from "node:path";
import { few } from "../../core/few.ts";
import { textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { checkStories } from "../../core/review/check-stories.ts";
import { findActiveRun, type ActiveRun, type Places } from "./active-run.ts";
import { openHookMemory, type HookMemory } from "./hook-memory.ts";
import { readLastWords } from "./last-words.ts";
import { readText } from "./read-file.ts";
import { uncommittedPaths } from "./uncommitted-paths.ts";

export type StopAnswer =
  { readonly decision: "approve" } | { readonly decision: "block"; readonly reason: string };

const APPROVE: StopAnswer = { decision: "approve" };
const BLOCKS_MAX = 5;
const SENTENCES_MAX = 20;

/** Whether an agent that wants to stop may do so. Whatever it lets through, the verdict looks at again. */
export async function answerStop(input: Fields, places: Places, env: NodeJS.ProcessEnv): Promise<StopAnswer> {
  const run = findActiveRun(places);
  if (run === null) return APPROVE;
  const sentences = [
    ...storySentences(run, input, env),
    ...uncommittedSentences(await uncommittedPaths(run, env)),
  ];
  if (sentences.length === 0) return APPROVE;
  const session = `${run.fingerprint} ${textOf(input["session_id"]) ?? ""}`;
  if (!mayBlock(openHookMemory(env, session), input)) return APPROVE;
  return { decision: "block", reason: `${sentences.join("\n")}\nMend this, then stop again.` };
}

/** An agent that cannot mend it must not go on for ever. */
function mayBlock(memory: HookMemory, input: Fields): boolean {
  for (let number = 1; number <= BLOCKS_MAX; number += 1) {
    const isFirst = memory.isFirst(`stop-${number}`);
    if (isFirst === null) return input["stop_hook_active"] !== true;
    if (isFirst) return true;
  }
  return false;
}

function storySentences(run: ActiveRun, input: Fields, env: NodeJS.ProcessEnv): readonly string[] {
  const { tasks, root, mode, before, rules } = run;
  if (tasks === null) return (before ?? []).length > 0 ? ["The file with the stories is gone."] : [];
  const text = readText(join(root, tasks));
  if (text === null) return [`${tasks} is missing, or cannot be read.`];
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    return [`${tasks} is not JSON: ${error instanceof Error ? error.message : String(error)}`];
  }
  const problems = checkStories(file, { mode, before, rules });
  const isExcused = problems.some(({ rule }) => rule === "nothing-reviewed") && hasSpoken(run, input, env);
  const told = problems.filter(({ rule }) => !(isExcused && rule === "nothing-reviewed"));
  if (told.length === 0) return [];
  const shown = told.slice(0, SENTENCES_MAX).map(({ sentence }) => `- ${sentence}.`);
  const more = told.length > shown.length ? [`- and ${told.length - shown.length} more.`] : [];
  return [`${tasks} is not as it should be:`, ...shown, ...more];
}

/** A review may end with a person's turn; in our own runs also with a signal, which we write down ourselves. */
function hasSpoken({ layout }: ActiveRun, input: Fields, env: NodeJS.ProcessEnv): boolean {
  const { holds, reviews } = readLastWords(input, env);
  return holds || (layout === "ours" && reviews);
}

function uncommittedSentences(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  return [
    `You have uncommitted changes: ${few(paths, 10)}. Commit all of your work, with what you noted about it.`,
  ];
}
