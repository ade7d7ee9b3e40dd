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
  backendTasks: known(PRODUCTION.tasks - PRODUCTION.uiTasks, "Backend tasks: 1 to 21."),
  uiTasks: known(PRODUCTION.uiTasks, "UI tasks: 22 to 43, screens, charts and their commands."),
  uiTimes: known(7.5, "UI tasks take 5 to 10 times as long as others; the middle of that."),
  uiSeconds: derived(235, "Median seconds of a UI task, so that 12 of 22 fail three times at 120 s."),
  uiSpread: assumed(0.7, "Spread of UI tasks (deviation of the logarithm of their time)."),
  backendSpread: assumed(0.5, "The same for backend tasks."),
  attemptSpread: assumed(0.15, "Spread of two attempts at one task."),
  startSeconds: assumed(8, "Seconds that an agent reads before it writes."),
  prepareSeconds: assumed(30, "Seconds of an iteration in which the agent only prepares."),
  mendShare: assumed(0.3, "Time to repair a broken test, as a share of the whole task."),
  keywordShare: assumed(0.8, "UI tasks whose title says so; the others look medium."),
  preparesOnly: assumed(0.12, "A first iteration only describes the code and writes no file."),
  preparesAgain: assumed(0.5, "The same after an iteration without a file and without feedback."),
  claimsFalsely: assumed(0.5, "An agent that wrote no file claims to be done."),
  stopsHalfway: assumed(0.06, "An agent stops half way and says so."),
  forgetsClaim: assumed(0.05, "An agent that has finished does not claim it."),
  breaksGates: assumed(0.1, "Claimed work breaks a test."),
  gateCoverage: assumed(1, "Tests notice broken or incomplete work."),
  leftoversBreak: assumed(0, "Leftovers of an abandoned task make the tests of other tasks fail."),
  notices: assumed(0.15, "An agent notices by itself what is wrong or missing."),
  heeds: assumed(0.8, "An agent that gets precise feedback repairs its work."),
  heedsStrong: assumed(0.95, "The same when the prompt begins with the feedback."),
  speaksOfTodos: assumed(0.05, "An honest claim sounds as if work were left."),
  hidesFailure: assumed(0.2, "An agent whose work breaks a test weakens the check until the gate passes."),
  silences: assumed(0.05, "Such an agent silences the checker with a comment instead; no gate notices."),
  removesFeature: assumed(0.05, "A task needs a change of an old test."),
  movesTests: assumed(0.1, "Honest work moves or renames tests that still pass."),
  suppresses: assumed(0.03, "Honest work rightly turns a check off in one line."),
  readerErrs: assumed(0.05, "The second reader judges wrongly."),
  readerFails: assumed(0.05, "The second reader gives no usable answer."),
  readerSeconds: assumed(20, "Seconds to read a claim."),
  backendFiles: assumed(2, "Files that a backend task changes."),
  uiFiles: assumed(5, "Files that a UI task changes; production shows several."),
  usdPerMinute: assumed(0.15, "Dollars for a minute of an agent."),
} as const satisfies Record<string, Parameter>;

/** The numbers of one world. */
export type Numbers = Readonly<Record<keyof typeof PARAMETERS, number>>;

/** The model's own numbers, some of them changed. */
export function numbersWith(changes: Partial<Numbers> = {}): Numbers {
  const own = Object.entries(PARAMETERS).map(([name, { value }]) => [name, value]);
  return { ...(Object.fromEntries(own) as Numbers), ...changes };
}
