import type { Command } from "commander";
import { openProject, type Project } from "../../compose.ts";
import type { State } from "../../core/loop/state.ts";
import { asArgument } from "../../core/projections/blocked.ts";
import { choiceInWords, openQuestions, type OpenQuestion } from "../../core/projections/open-questions.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { Act, CliContext } from "../commands.ts";
import { readState, withLog } from "../project-state.ts";
import { refreshStatus } from "../refresh-status.ts";
import { unknownTask } from "../unknown-task.ts";
import { whoGoesOn } from "../who-goes-on.ts";
import { requirePerson } from "../require-person.ts";

export function define(command: Command, act: Act): void {
  command
    .argument("[task]", "the task that asks; may be left out when only one does")
    .argument("[answer]", "in quotes")
    .allowExcessArguments()
    .action(() => act((context) => decide(command.args, context)));
}

async function decide(words: readonly string[], context: CliContext): Promise<number> {
  if (words.length > 2)
    throw new RalphError("usage", "an answer of several words needs quotes", {
      hint: `ralph decide ${words[0] ?? "TASK"} "${words.slice(1).join(" ")}"`,
    });
  const project = await openProject(context);
  requirePerson(project, context.env, "answer questions");
  for (;;) {
    const state = await readState(project);
    const { task, answer } = wordsAsAnswer(words, state);
    const question = await questionOf(task, state, project);
    if (await record(project, state, question, answer)) {
      await refreshStatus(project);
      tell(question, answer, await nextStep(project, state, question.task), context);
      return 0;
    }
  }
}

interface Words {
  readonly task: string | null;
  readonly answer: string;
}

function wordsAsAnswer([first = "", second]: readonly string[], state: State): Words {
  const open = openQuestions(state);
  const isOption = open.some(({ options }) => options.includes(first));
  const isTask = state.tasks[first] !== undefined && !isOption;
  const answer = (second ?? (isTask ? "" : first)).trim();
  if (answer === "" && open.length > 0)
    throw new RalphError("usage", `say the answer${listed(open)}`, {
      hint: howTo(open.find(({ task }) => task === first) ?? open[0]),
    });
  return { task: second === undefined ? null : first, answer };
}

/** The one that is meant; refuses with what would be right. */
async function questionOf(task: string | null, state: State, project: Project): Promise<OpenQuestion> {
  const open = openQuestions(state);
  if (task !== null && state.tasks[task] === undefined) throw await unknownTask(task, state, project);
  const meant = task === null ? open : open.filter((question) => question.task === task);
  const [only] = meant;
  if (only === undefined) throw nothingOpen(task, state, open);
  if (meant.length > 1)
    throw new RalphError("usage", `${meant.length} tasks ask; say which one you answer${listed(meant)}`, {
      hint: howTo(only),
    });
  return only;
}

function nothingOpen(task: string | null, state: State, open: readonly OpenQuestion[]): RalphError {
  const answer = task === null ? null : (state.tasks[task]?.question?.answer ?? null);
  const said = answer === null ? "" : ` any more: it has its answer, "${answer}"`;
  const message = task === null ? "no task asks a question" : `${task} asks no question${said}`;
  return new RalphError("usage", `${message}${open.length === 0 ? "" : `; these do${listed(open)}`}`, {
    hint: "what waits for you: ralph inbox",
  });
}

/** False when somebody else did something about the task in between: look again. */
async function record(
  project: Project,
  state: State,
  { task }: OpenQuestion,
  answer: string,
): Promise<boolean> {
  const expected = { task: { id: task, position: state.tasks[task]?.position ?? 0 } };
  const answered = { type: "question.answered", task, answer, by: "person" } as const;
  return (await withLog(project, (log) => log.append([answered], expected))) !== null;
}

function tell(
  { task, text, options }: OpenQuestion,
  answer: string,
  next: string,
  { stderr }: CliContext,
): void {
  if (options.length > 0 && !options.includes(answer))
    stderr.write(
      `ralph: note: "${answer}" is none of the options (${options.join(", ")}); it is taken as it is\n`,
    );
  stderr.write(`ralph: ${task} asked: ${text}\nralph: answered: ${answer}\n`);
  stderr.write(`  → ${next}\n`);
}

async function nextStep(project: Project, state: State, task: string): Promise<string> {
  // It asked with the last iteration that it had.
  if (state.tasks[task]?.blockedReason != null)
    return `it is blocked as well: ralph unblock ${asArgument(task)}`;
  return whoGoesOn(project, state, task);
}

/** After a sentence, a line for each. */
function listed(questions: readonly OpenQuestion[]): string {
  const now = Date.now();
  const lines = questions.map((question) => {
    const choice = choiceInWords(question, now);
    return `\n  ${question.task}: ${question.text}${choice === "" ? "" : `  (${choice})`}`;
  });
  return `:${lines.join("")}`;
}

function howTo(question: OpenQuestion | undefined): string {
  const { task = "TASK", options = [] } = question ?? {};
  return `ralph decide ${asArgument(task)} "${options[0] ?? "…"}"`;
}
