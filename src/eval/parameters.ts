interface Parameter {
  readonly value: number;
  /** `derived`: the one number with which the known ones come out. */
  readonly source: "known" | "derived" | "assumed";
  readonly sentence: string;
}

/** What production showed: 81 iterations over 43 tasks with a timeout of 120 s for everything. */
export const PRODUCTION = {
  iterations: 81,
  wastedIterations: 36,
  tasks: 43,
  uiTasks: 22,
  uiBlocked: 12,
} as const;

const from =
  (source: Parameter["source"]) =>
  (value: number, sentence: string): Parameter => ({ value, source, sentence });
const [known, derived, assumed] = [from("known"), from("derived"), from("assumed")];

/** Every number of the model. Nothing else in this folder is made up. */
export const PARAMETERS = {
  backendTasks: known(PRODUCTION.tasks - PRODUCTION.uiTasks, "Tasks 1 to 21 are work on the backend."),
  uiTasks: known(PRODUCTION.uiTasks, "Tasks 22 to 43 are screens, charts and their commands."),
  uiTimes: known(7.5, "A task with a screen needs 5 to 10 times as long as one without; the middle of that."),
  uiSeconds: derived(
    235,
    "Median work of a task with a screen; with it, 12 of 22 do not fit three times into 120 s.",
  ),
  uiSpread: assumed(0.7, "How much tasks with a screen differ (deviation of the logarithm of their time)."),
  backendSpread: assumed(0.5, "The same of tasks without a screen."),
  attemptSpread: assumed(0.15, "How much two attempts at one task differ."),
  startSeconds: assumed(8, "An agent reads for so long before it writes anything."),
  prepareSeconds: assumed(30, "An iteration in which the agent only prepares takes so long."),
  mendShare: assumed(0.3, "To mend a broken test takes this share of the time for the whole task."),
  keywordShare: assumed(0.8, "Tasks with a screen whose title says so; the others look like medium ones."),
  preparesOnly: assumed(
    0.12,
    "A first iteration in which the agent only describes the code and writes no file.",
  ),
  preparesAgain: assumed(0.5, "The same after an iteration without a file, when nobody tells the agent."),
  claimsFalsely: assumed(0.5, "An agent that wrote no file claims that the task is done."),
  stopsHalfway: assumed(0.06, "An agent stops half way, says so, and leaves the rest to the next iteration."),
  forgetsClaim: assumed(0.05, "An agent that has finished forgets to say so."),
  breaksGates: assumed(0.1, "Work that is claimed to be done breaks a test."),
  gateCoverage: assumed(1, "Tests notice that the work on a task is broken, or only half there."),
  leftoversBreak: assumed(0, "Leftovers of an abandoned task make the tests fail for the others too."),
  notices: assumed(0.15, "An agent finds out by itself what is wrong, or that half of the work is there."),
  heeds: assumed(0.8, "An agent that is told precisely what is wrong mends it."),
  heedsStrong: assumed(0.95, "The same when the prompt begins with it."),
  speaksOfTodos: assumed(0.05, "The words of an honest claim sound as if something were left."),
  hidesFailure: assumed(
    0.2,
    "An agent whose work breaks a test weakens the check, so that the gate is green.",
  ),
  silences: assumed(0.05, "Such an agent silences the checker with a comment instead; no gate sees that."),
  removesFeature: assumed(0.05, "A task asks for what an old test forbids, so honest work changes the test."),
  movesTests: assumed(0.1, "Honest work on a task moves or renames tests, which still pass as they were."),
  suppresses: assumed(0.03, "Honest work has a line that switches a check off where that is right."),
  readerErrs: assumed(0.05, "The second reader takes wrong work for right, or right work for wrong."),
  readerFails: assumed(0.05, "The second reader gives no answer: it is limited, too slow or unclear."),
  readerSeconds: assumed(20, "To read a claim takes so long."),
  backendFiles: assumed(2, "Files that a task without a screen changes."),
  uiFiles: assumed(5, "Files that a task with a screen changes; known is that there are several."),
  usdPerMinute: assumed(0.15, "What a minute of an agent costs, in dollars."),
} as const satisfies Record<string, Parameter>;

/** The numbers of one world. */
export type Numbers = Readonly<Record<keyof typeof PARAMETERS, number>>;

/** The model's own numbers, some of them changed. */
export function numbersWith(changes: Partial<Numbers> = {}): Numbers {
  const own = Object.entries(PARAMETERS).map(([name, { value }]) => [name, value]);
  return { ...(Object.fromEntries(own) as Numbers), ...changes };
}
