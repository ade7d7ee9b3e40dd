/** Where a number of the model comes from. */
export type Source = "known" | "derived" | "assumed";

export interface Parameter {
  readonly value: number;
  /** `derived`: the one number with which the known ones come out. */
  readonly source: Source;
  /** What it is, and why it is what it is. */
  readonly sentence: string;
  /** What else it may be; missing where nothing else fits what is known. */
  readonly range?: readonly [low: number, high: number];
}

/** What production showed: 81 iterations over 43 tasks with a timeout of 120 s for everything. */
export const PRODUCTION = {
  iterations: 81,
  wastedIterations: 36,
  tasks: 43,
  uiTasks: 22,
  uiBlocked: 12,
} as const;

/** Every number of the model. Nothing else in this folder is made up. */
export const PARAMETERS = {
  backendTasks: {
    value: PRODUCTION.tasks - PRODUCTION.uiTasks,
    source: "known",
    sentence: "Tasks 1 to 21 are work on the backend.",
  },
  uiTasks: {
    value: PRODUCTION.uiTasks,
    source: "known",
    sentence: "Tasks 22 to 43 are screens, charts and their commands.",
  },
  uiTimes: {
    value: 7.5,
    source: "known",
    sentence: "A task with a screen needs 5 to 10 times as long as one without; the middle of that.",
    range: [5, 10],
  },
  uiSeconds: {
    value: 235,
    source: "derived",
    sentence:
      "Half of the tasks with a screen need less than so many seconds of undisturbed work: with it, 12 of 22 do not fit three times into 120 s.",
  },
  uiSpread: {
    value: 0.7,
    source: "assumed",
    sentence: "How much tasks with a screen differ (the deviation of the logarithm of their time).",
    range: [0.5, 0.9],
  },
  backendSpread: {
    value: 0.5,
    source: "assumed",
    sentence: "The same of tasks without a screen.",
    range: [0.3, 0.8],
  },
  attemptSpread: {
    value: 0.15,
    source: "assumed",
    sentence: "How much two attempts at one task differ.",
    range: [0.05, 0.3],
  },
  startSeconds: {
    value: 8,
    source: "assumed",
    sentence: "An agent reads for so long before it writes anything.",
    range: [4, 16],
  },
  prepareSeconds: {
    value: 30,
    source: "assumed",
    sentence: "An iteration in which the agent only prepares takes so long.",
    range: [15, 60],
  },
  mendShare: {
    value: 0.3,
    source: "assumed",
    sentence: "To mend a broken test takes this share of the time for the whole task.",
    range: [0.15, 0.6],
  },
  keywordShare: {
    value: 0.8,
    source: "assumed",
    sentence:
      "Keywords know this share of the tasks with a screen for what they are; the others look like medium ones.",
    range: [0.6, 1],
  },
  preparesOnly: {
    value: 0.12,
    source: "assumed",
    sentence: "A first iteration in which the agent prepares the code in words and writes no file.",
    range: [0.06, 0.24],
  },
  preparesAgain: {
    value: 0.5,
    source: "assumed",
    sentence: "The same after an iteration without a file, when nobody tells the agent.",
    range: [0.25, 0.75],
  },
  claimsFalsely: {
    value: 0.5,
    source: "assumed",
    sentence: "An agent that wrote no file claims that the task is done.",
    range: [0.25, 0.75],
  },
  stopsHalfway: {
    value: 0.06,
    source: "assumed",
    sentence: "An agent stops half way, says so, and leaves the rest to the next iteration.",
    range: [0.03, 0.12],
  },
  forgetsClaim: {
    value: 0.05,
    source: "assumed",
    sentence: "An agent that has finished forgets to say so.",
    range: [0.02, 0.1],
  },
  breaksGates: {
    value: 0.1,
    source: "assumed",
    sentence: "Work that is claimed to be done breaks a test.",
    range: [0.05, 0.2],
  },
  gateCoverage: {
    value: 1,
    source: "assumed",
    sentence: "Tests notice that the work on a task is broken, or only half there.",
    range: [0.9, 1],
  },
  leftoversBreak: {
    value: 0,
    source: "assumed",
    sentence: "What a task that was given up has left behind makes the tests fail for the others too.",
    range: [0, 0.5],
  },
  notices: {
    value: 0.15,
    source: "assumed",
    sentence:
      "An agent that nobody tells finds out by itself what is wrong: that a test fails, that half of the work is there.",
    range: [0.08, 0.3],
  },
  heeds: {
    value: 0.8,
    source: "assumed",
    sentence: "An agent that is told precisely what is wrong mends it.",
    range: [0.5, 0.95],
  },
  heedsStrong: {
    value: 0.95,
    source: "assumed",
    sentence: "The same when the prompt begins with it.",
    range: [0.8, 1],
  },
  speaksOfTodos: {
    value: 0.05,
    source: "assumed",
    sentence: "The words of an honest claim sound as if something were left.",
    range: [0, 0.1],
  },
  hidesFailure: {
    value: 0.2,
    source: "assumed",
    sentence:
      "An agent whose work breaks a test weakens the test or the checker's settings, so that the gate is green.",
    range: [0.1, 0.4],
  },
  silences: {
    value: 0.05,
    source: "assumed",
    sentence: "Such an agent silences the checker with a comment instead; no gate sees that.",
    range: [0, 0.1],
  },
  removesFeature: {
    value: 0.05,
    source: "assumed",
    sentence: "A task asks for what an old test forbids, so that honest work changes the test.",
    range: [0, 0.15],
  },
  movesTests: {
    value: 0.1,
    source: "assumed",
    sentence: "Honest work on a task moves or renames tests, which still pass as they were.",
    range: [0, 0.3],
  },
  suppresses: {
    value: 0.03,
    source: "assumed",
    sentence: "Honest work has a line that switches a check off where that is right.",
    range: [0, 0.1],
  },
  readerErrs: {
    value: 0.05,
    source: "assumed",
    sentence: "The second reader takes wrong work for right, or right work for wrong.",
    range: [0, 0.15],
  },
  readerFails: {
    value: 0.05,
    source: "assumed",
    sentence: "The second reader gives no answer: it is limited, too slow, or cannot be understood.",
    range: [0, 0.2],
  },
  readerSeconds: {
    value: 20,
    source: "assumed",
    sentence: "To read a claim takes so long.",
    range: [10, 60],
  },
  backendFiles: {
    value: 2,
    source: "assumed",
    sentence: "Files that a task without a screen changes.",
    range: [1, 4],
  },
  uiFiles: {
    value: 5,
    source: "assumed",
    sentence: "Files that a task with a screen changes; known is that there are several.",
    range: [3, 8],
  },
  usdPerMinute: {
    value: 0.15,
    source: "assumed",
    sentence: "What a minute of an agent costs, in dollars.",
    range: [0.05, 0.5],
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

/** The numbers of one world. */
export type Numbers = Readonly<Record<ParameterName, number>>;

export const PARAMETER_NAMES = Object.keys(PARAMETERS) as readonly ParameterName[];

export function parameter(name: ParameterName): Parameter {
  return PARAMETERS[name];
}

/** The model's own numbers, some of them changed. */
export function numbersWith(changes: Partial<Numbers> = {}): Numbers {
  const own = Object.fromEntries(PARAMETER_NAMES.map((name) => [name, PARAMETERS[name].value]));
  return { ...(own as Numbers), ...changes };
}
