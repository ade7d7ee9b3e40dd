import { isFields } from "../report/streams/json-fields.ts";

/** What the demo agent does, iteration by iteration. */
export interface DemoScript {
  /** For each task one list of steps an iteration; the last is repeated when there are more. */
  readonly tasks: Readonly<Record<string, readonly DemoSteps[]>>;
  /** For tasks that are not named. */
  readonly default: readonly DemoSteps[] | null;
  /** Instead of both: for one iteration after the other, whatever they are for. */
  readonly iterations: readonly DemoSteps[] | null;
}

export type DemoSteps = readonly DemoStep[];

export type DemoStep =
  | { readonly say: string }
  | { readonly write: FileText }
  | { readonly append: FileText }
  | { readonly remove: string }
  | { readonly shell: string }
  | { readonly commit: string }
  | { readonly promise: string }
  /** Tokens, dollars and model, e.g. {"cost_usd": 0.12}. */
  | { readonly usage: Readonly<Record<string, unknown>> }
  | { readonly blocked: string }
  | { readonly decide: string }
  /** Milliseconds. */
  | { readonly sleep: number }
  /** Until a message comes while it runs, at most so many milliseconds; it repeats what it was told. */
  | { readonly awaitMessage: number }
  | { readonly hang: true }
  | { readonly ignoreTerm: true }
  /** The exit code. */
  | { readonly crash: number }
  | { readonly killSelf: string }
  /** So many bytes of lines, of one line, of anything. */
  | { readonly flood: number }
  | { readonly longLine: number }
  | { readonly garbage: number }
  /** A background process that holds our output, has a session of its own, or ignores TERM. */
  | { readonly leave: "child" | "setsid" | "stubborn" }
  | { readonly echoPrompt: true }
  /** Fails when the prompt lacks the text. */
  | { readonly expectPrompt: string };

export interface FileText {
  readonly path: string;
  readonly text: string;
}

/** Reads a script; a broken one is an error whose message says where and what to write instead. */
export function parseDemoScript(json: string): DemoScript {
  const script = parseJson(json);
  if (!isFields(script))
    throw new Error('the script must be an object such as {"tasks": {"task-1": [[{"say": "Hi"}]]}}');
  for (const key of Object.keys(script)) {
    if (!["tasks", "default", "iterations"].includes(key))
      throw new Error(`"${key}" is unknown; a script has "tasks" and "default", or "iterations"`);
  }
  const { tasks = {}, default: others = null, iterations = null } = script;
  if (!isFields(tasks)) throw new Error('"tasks" must be an object of task ids');
  const checked = Object.entries(tasks).map(
    ([id, value]) => [id, checkIterations(value, `tasks.${id}`)] as const,
  );
  return {
    tasks: Object.fromEntries(checked),
    default: others === null ? null : checkIterations(others, "default"),
    iterations: iterations === null ? null : checkIterations(iterations, "iterations"),
  };
}

/** The steps by the iteration's number, overall or in the task's loop; null when the script has none. */
export function demoSteps(
  script: DemoScript,
  task: string,
  { number, ordinal }: { readonly number: number; readonly ordinal: number },
): DemoSteps | null {
  if (script.iterations !== null) return nth(script.iterations, number);
  return nth((Object.hasOwn(script.tasks, task) ? script.tasks[task] : script.default) ?? [], ordinal);
}

function nth(iterations: readonly DemoSteps[], number: number): DemoSteps | null {
  return iterations[number - 1] ?? iterations.at(-1) ?? null;
}

function checkIterations(value: unknown, where: string): readonly DemoSteps[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new Error(`${where} must be a list with one list of steps for each iteration`);
  }
  return value.map((steps: unknown, index) => {
    if (!Array.isArray(steps)) throw new Error(`${where}[${index}] must be a list of steps`);
    return steps.map((step: unknown, at) => checkStep(step, `${where}[${index}][${at}]`));
  });
}

function checkStep(step: unknown, where: string): DemoStep {
  const [name, ...more] = isFields(step) ? Object.keys(step) : [];
  if (!isFields(step) || name === undefined || more.length > 0) {
    throw new Error(
      `${where} must be an object with one key, one of: ${Object.keys(STEP_CHECKS).join(", ")}`,
    );
  }
  if (!isStepName(name)) {
    throw new Error(
      `${where} has the unknown step "${name}"; known are: ${Object.keys(STEP_CHECKS).join(", ")}`,
    );
  }
  const { isRight, wants } = STEP_CHECKS[name];
  if (!isRight(step[name])) throw new Error(`${where}.${name} must be ${wants}`);
  return step as unknown as DemoStep;
}

type StepName<Step = DemoStep> = Step extends unknown ? keyof Step : never;

interface Check {
  readonly isRight: (value: unknown) => boolean;
  readonly wants: string;
}

const text: Check = { isRight: (value) => typeof value === "string", wants: "a text" };
const words: Check = {
  isRight: (value) => typeof value === "string" && value.trim() !== "",
  wants: "a text that is not empty",
};
const size: Check = {
  isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  wants: "a whole number from 0",
};
const yes: Check = { isRight: (value) => value === true, wants: "true" };
const file: Check = {
  isRight: (value) => isFields(value) && words.isRight(value["path"]) && text.isRight(value["text"]),
  wants: 'an object such as {"path": "a.txt", "text": "…"}',
};

const STEP_CHECKS: Readonly<Record<StepName, Check>> = {
  say: text,
  write: file,
  append: file,
  remove: words,
  shell: words,
  commit: words,
  promise: words,
  usage: { isRight: isFields, wants: 'an object such as {"cost_usd": 0.12}' },
  blocked: text,
  decide: text,
  sleep: size,
  awaitMessage: size,
  hang: yes,
  ignoreTerm: yes,
  crash: {
    isRight: (value) => size.isRight(value) && Number(value) <= 255,
    wants: "an exit code from 0 to 255",
  },
  killSelf: {
    isRight: (value) => typeof value === "string" && /^SIG[A-Z0-9]+$/.test(value),
    wants: 'a signal such as "SIGKILL"',
  },
  flood: size,
  longLine: size,
  garbage: size,
  leave: {
    isRight: (value) => value === "child" || value === "setsid" || value === "stubborn",
    wants: '"child", "setsid" or "stubborn"',
  },
  echoPrompt: yes,
  expectPrompt: words,
};

function isStepName(name: string): name is StepName {
  return Object.hasOwn(STEP_CHECKS, name);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
