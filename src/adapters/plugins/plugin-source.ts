import { setTimeout as delay } from "node:timers/promises";
import { planProblem } from "../../core/plan/check-plan.ts";
import { plainTask, type Plan, type SourceIdentity, type Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { askPlugin, inWords, messageOf, type PartName, PluginFailure } from "./ask-plugin.ts";
import type { PluginSource, SourceContext } from "./plugin.ts";

interface PluginSourceOptions {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly warn: (text: string) => void;
  readonly now?: () => number;
}

const LIMIT_MS = 60_000;
/** While a run waits it looks for news every second, which is more than a service likes. */
const FRESH_MS = 5_000;
const PAUSES_MS = [1_000, 5_000];

/** Tasks that a plugin reads and marks. They are in no file of the repository. */
export function pluginSource(part: PartName, source: PluginSource, options: PluginSourceOptions): TaskSource {
  const { root, env, warn, now = () => performance.now() } = options;
  const identity: SourceIdentity = { kind: "plugin", label: `plugin:${part.name}`, path: null };
  let known: { readonly plan: Plan; readonly at: number } | null = null;
  let isAway = false;
  const ask = <Answer>(work: (context: SourceContext) => Answer | Promise<Answer>): Promise<Answer> =>
    askPlugin(part, LIMIT_MS, (signal) => work({ root, env, signal }));
  const look = async (): Promise<Plan> => {
    const plan = {
      source: identity,
      tasks: checkedTasks(part, await ask((context) => source.observe(context))),
    };
    known = { plan, at: now() };
    isAway = false;
    return plan;
  };
  const observe = async (): Promise<Plan> => {
    if (known !== null && now() - known.at < FRESH_MS) return known.plan;
    try {
      return await look();
    } catch (error) {
      // Whoever has a plan already goes on with it.
      if (known !== null && !isAway) warn(`${messageOf(error)}; the tasks are taken as they were`);
      isAway = true;
      throw new RalphError("bad-tasks", messageOf(error), { cause: error });
    }
  };
  return {
    identity,
    files: [],
    observe,
    demands: () => Promise.resolve({ checks: source.checks ?? [], branch: null }),
    async mark(task) {
      await markPatiently(() => ask((context) => source.mark(task, context)));
      known = null;
    },
    markedIn: (file) => file,
    takeBackMarks: async (done) => {
      if (source.unmark === undefined) return [];
      try {
        const { tasks } = await look();
        const marked = tasks.filter((task) => task.done && !done.has(task.id)).map(({ id }) => id);
        for (const id of marked) await ask((context) => source.unmark?.(id, context));
        if (marked.length > 0) known = null;
        return marked;
      } catch (error) {
        warn(`${messageOf(error)}; marks that an agent made may still be there`);
        return [];
      }
    },
  };
}

/** A task that is done and cannot be marked ends the run; the next one marks it. */
async function markPatiently(mark: () => Promise<void>): Promise<void> {
  for (const pauseMs of [...PAUSES_MS, null]) {
    try {
      return await mark();
    } catch (error) {
      if (pauseMs === null)
        throw new RalphError("unreachable", messageOf(error), {
          hint: "the work is safe: the next run marks the task first",
          cause: error,
        });
      await delay(pauseMs);
    }
  }
}

function checkedTasks(part: PartName, answer: unknown): readonly Task[] {
  if (!Array.isArray(answer)) throw new PluginFailure(part, "answered something else than a list of tasks");
  const tasks = answer.map((task: unknown, at): Task => {
    const read = readTask(task);
    if (typeof read !== "string") return plainTask(read);
    throw new PluginFailure(part, `has in its task ${at + 1} ${read}`);
  });
  const problem = planProblem(tasks.map((task, at) => ({ task, line: at + 1 })));
  if (problem !== null)
    throw new RalphError("bad-tasks", `${inWords(part)}: ${problem.replace(/\blines?\b/, "task")}`);
  return tasks;
}

type Said = Pick<Task, "id" | "title"> & Partial<Task>;

const isText = (value: unknown): boolean => typeof value === "string";
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";

const FIELDS: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  id: [isText, "a text"],
  title: [isText, "a text"],
  description: [isText, "a text"],
  criteria: [isTextList, "a list of texts"],
  success: [isText, "a text"],
  dependsOn: [isTextList, "a list of texts"],
  priority: [isNumber, "a number"],
  agent: [isText, "a text"],
  timeoutMs: [isCount, "milliseconds"],
  maxIterations: [isCount, "a whole number of at least 1"],
  promise: [isText, "a text"],
  changes: [(value) => value === "none", '"none"'],
  loops: [isBoolean, "true or false"],
  done: [isBoolean, "true or false"],
  optional: [isBoolean, "true or false"],
};

/** A task as a plugin gives it, or what is wrong with it. */
function readTask(value: unknown): Said | string {
  if (typeof value !== "object" || value === null) return "no task; expected at least { id, title }";
  const given = Object.entries(value).filter(([, inside]) => inside !== undefined && inside !== null);
  for (const [field, inside] of given) {
    const known = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (known === undefined) return `a field "${field}" that no task has`;
    const [isMet, words] = known;
    if (!isMet(inside)) return `a "${field}" that is no such thing; expected ${words}`;
  }
  const task = Object.fromEntries(given) as Partial<Said>;
  if (task.id === undefined || task.id.trim() === "") return "no id";
  if (/[\r\n]/.test(task.id)) return "an id of several lines";
  if (task.title === undefined || task.title.trim() === "") return "no title";
  return task as Said;
}
