import { type Fields, isFields } from "../streams/json-fields.ts";

/** What the demo agent does, iteration by iteration. */
export interface DemoScript {
  /** For each task one list of steps an iteration; the last is repeated when there are more. */
  readonly tasks: Readonly<Record<string, readonly DemoSteps[]>>;
  /** For tasks that are not named. */
  readonly default: readonly DemoSteps[] | null;
  /** Instead of both: for one iteration after the other, whatever they are for. */
  readonly iterations: readonly DemoSteps[] | null;
}

type Is<Value> = (value: unknown) => value is Value;

function check<Value>(wants: string, isRight: (value: unknown) => boolean) {
  return { wants, isRight: isRight as Is<Value> };
}

export interface FileText {
  readonly path: string;
  readonly text: string;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isFull = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const text = check<string>("a text", isText);
const words = check<string>("a text that is not empty", isFull);
const size = check<number>("a whole number from 0", isSize);
const yes = check<true>("true", (value) => value === true);
const file = check<FileText>(
  'an object such as {"path": "a.txt", "text": "…"}',
  (value) => isFields(value) && isFull(value["path"]) && isText(value["text"]),
);

const STEPS = {
  say: text,
  write: file,
  append: file,
  remove: words,
  shell: words,
  commit: words,
  promise: words,
  /** Tokens, dollars and model. */
  usage: check<Fields>('an object such as {"cost_usd": 0.12}', isFields),
  blocked: text,
  decide: text,
  /** Milliseconds. */
  sleep: size,
  /** Until a message comes while it runs, at most so many milliseconds; it repeats what it was told. */
  awaitMessage: size,
  hang: yes,
  ignoreTerm: yes,
  crash: check<number>("an exit code from 0 to 255", (value) => isSize(value) && Number(value) <= 255),
  killSelf: check<string>(
    'a signal such as "SIGKILL"',
    (value) => typeof value === "string" && /^SIG[A-Z0-9]+$/.test(value),
  ),
  /** So many bytes of lines, of one line, of anything. */
  flood: size,
  longLine: size,
  garbage: size,
  /** A background process that holds our output, has a session of its own, or ignores TERM. */
  leave: check<"child" | "setsid" | "stubborn">(
    '"child", "setsid" or "stubborn"',
    (value) => value === "child" || value === "setsid" || value === "stubborn",
  ),
  echoPrompt: yes,
  /** Fails when the prompt lacks the text. */
  expectPrompt: words,
};

type Steps = typeof STEPS;
/** An object with one key. */
export type DemoStep = {
  [Name in keyof Steps]: {
    readonly [One in Name]: Steps[One]["isRight"] extends Is<infer Value> ? Value : never;
  };
}[keyof Steps];
export type DemoSteps = readonly DemoStep[];

/** Reads a script; a broken one is an error whose message says where and what to write instead. */
export function parseDemoScript(json: string): DemoScript {
  let script: unknown;
  try {
    script = JSON.parse(json);
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isFields(script))
    throw new Error('the script must be an object such as {"tasks": {"task-1": [[{"say": "Hi"}]]}}');
  for (const key of Object.keys(script)) {
    if (!["tasks", "default", "iterations"].includes(key))
      throw new Error(`"${key}" is unknown; a script has "tasks" and "default", or "iterations"`);
  }
  const { tasks = {}, default: others = null, iterations = null } = script;
  if (!isFields(tasks)) throw new Error('"tasks" must be an object of task ids');
  return {
    tasks: Object.fromEntries(
      Object.entries(tasks).map(([id, value]) => [id, checkIterations(value, `tasks.${id}`)]),
    ),
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
  const ofTask = Object.hasOwn(script.tasks, task) ? script.tasks[task] : script.default;
  const steps = script.iterations ?? ofTask ?? [];
  return steps[(script.iterations === null ? ordinal : number) - 1] ?? steps.at(-1) ?? null;
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
  const known = Object.keys(STEPS).join(", ");
  const [name, ...more] = isFields(step) ? Object.keys(step) : [];
  if (!isFields(step) || name === undefined || more.length > 0)
    throw new Error(`${where} must be an object with one key, one of: ${known}`);
  if (!Object.hasOwn(STEPS, name))
    throw new Error(`${where} has the unknown step "${name}"; known are: ${known}`);
  const { isRight, wants } = STEPS[name as keyof Steps];
  if (!isRight(step[name])) throw new Error(`${where}.${name} must be ${wants}`);
  return step as unknown as DemoStep;
}
