import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { planProblem } from "../../core/plan-checks.ts";
import { plainTask, type Plan, type SourceIdentity, type Task } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { type Fields, isFields } from "../../core/streams/json-fields.ts";
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
    const tasks = checkedTasks(part, await ask((context) => source.observe(context)));
    const plan = { source: identity, tasks };
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
  const tasks = answer.map((given: unknown, at): Task => {
    const said = withoutNothing(given);
    const read = TASK.safeParse(said);
    const [issue] = read.error?.issues ?? [];
    if (issue === undefined) return plainTask(read.data as Pick<Task, "id" | "title"> & Partial<Task>);
    throw new PluginFailure(part, `has in its task ${at + 1} ${describeIssue(issue, said)}`);
  });
  const problem = planProblem(tasks.map((task, at) => ({ task, line: at + 1 })));
  if (problem !== null)
    throw new RalphError("bad-tasks", `${inWords(part)}: ${problem.replace(/\blines?\b/, "task")}`);
  return tasks;
}

const text = z.string("a text");
const texts = z.array(z.string("a list of texts"), "a list of texts").optional();
const count = z.int("a whole number of at least 1").min(1, "a whole number of at least 1").optional();
const aBoolean = z.boolean("true or false").optional();
const words = text.refine((value) => value.trim() !== "", "a text that is not empty");

/** A task as a plugin gives it; the messages say what is expected. */
const TASK = z.strictObject({
  id: words.refine((id) => !/[\r\n]/.test(id), "a text of one line"),
  title: words,
  description: text.optional(),
  criteria: texts,
  success: text.optional(),
  dependsOn: texts,
  priority: z.number("a number").optional(),
  agent: text.optional(),
  timeoutMs: count,
  maxIterations: count,
  promise: text.optional(),
  changes: z.literal("none", '"none"').optional(),
  loops: aBoolean,
  done: aBoolean,
  optional: aBoolean,
} satisfies Partial<Record<keyof Task, z.ZodType>>);

/** What is null is left to us, as what is missing. */
function withoutNothing(given: unknown): Fields | null {
  if (!isFields(given)) return null;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}

function describeIssue(issue: z.core.$ZodIssue, said: Fields | null): string {
  if (issue.code === "unrecognized_keys") return `a field "${issue.keys[0]}" that no task has`;
  if (said === null) return "no task; expected at least { id, title }";
  const field = String(issue.path[0]);
  if (said[field] === undefined) return `no ${field}`;
  return `a "${field}" that is no such thing; expected ${issue.message}`;
}
