import { isAcceptance } from "../loop/task-status.ts";
import type { FeedbackItem, Lesson } from "../loop/intervention.ts";
import type { TaskState } from "../state.ts";
import type { Task } from "../plan.ts";
import { type GateOutcome, isFailing } from "../verdict/checked-gate.ts";
import { AUTO_APPROVED, isAtCap, reviewCapOf, reviewMode, type StoryReview } from "../review/story-review.ts";
import type { GateSettings, Settings } from "../settings.ts";
import { findingsIn, PERSON, type SentBack, type StageKind } from "../loop/stages.ts";
import { closest, few } from "../text.ts";
import { changeSection, type ShownWork } from "../verdict/reader.ts";

export interface PromptParts {
  readonly task: Task;
  readonly stage: string;
  readonly kind: StageKind;
  /** The one that writes the code; later ones look at it. */
  readonly isFirstStage: boolean;
  /** What a stage that looks at it is shown. */
  readonly work: ShownWork | null;
  /** Where it stands in the review cycle; null outside of it. */
  readonly review: StoryReview | null;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly promise: string;
  readonly settings: Pick<Settings, "gates" | "git" | "protect" | "source" | "skipReview" | "reviewCap">;
  readonly known: Pick<
    TaskState,
    "sentBack" | "question" | "feedback" | "feedbackLeads" | "baseline" | "workBase" | "left"
  >;
  /** Where the task's work counts from. */
  readonly base: string | null;
  readonly notes: string;
  readonly notesPath: string;
  /** What the operator wants the agent to know, as a section; empty when there is nothing. */
  readonly messages: string;
  readonly lessons: readonly Lesson[];
  /** The operator's own; null is the built-in one. */
  readonly template: string | null;
}

/** What the agent is told; the template decides the order. */
export function buildPrompt(parts: PromptParts): string {
  const { task, known, work } = parts;
  const feedback = feedbackSection(known.feedback);
  const leads = known.feedbackLeads && feedback !== "";
  const isReader = parts.kind === "reviewer" || parts.kind === "qa";
  const template = templateFor(parts);
  const prompt = renderTemplate(template, {
    task_information: taskInformation(parts),
    specification: specification(task, hasPlaceFor(template, "task_information")),
    stage_work: sections(stageWork(parts), work === null ? "" : changeSection(work)),
    success_criteria: task.success === null ? "" : `## Success criteria\n${task.success}`,
    notes: sections(workSoFar(parts), notes(parts)),
    decision: sections(answeredDecision(parts), parts.messages),
    feedback: sections(findings(parts), leads ? "" : feedback),
    required_evidence: isReader ? "" : requiredEvidence(parts),
    completion_requirements: completion(parts),
    asking_for_help: ASKING_FOR_HELP,
    task_id: task.id,
    title: task.title,
    description: task.description,
    stage: parts.stage,
    iteration: String(parts.ordinal),
    max_iterations: String(parts.maxIterations),
    promise: parts.promise,
  });
  return leads ? `${feedback}\n\n${prompt}` : prompt;
}

function sections(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** A template of the operator's that has no place for decisions does not swallow their messages. */
function templateFor({ template, messages }: PromptParts): string {
  if (template === null) return BUILD_TEMPLATE;
  return messages === "" || hasPlaceFor(template, "decision") ? template : `${template}\n\n{{decision}}`;
}

function taskInformation({ task, stage, ordinal, maxIterations }: PromptParts): string {
  return `## Task Information
- **Task ID**: ${task.id}
- **Title**: ${task.title}${task.phase === null ? "" : `\n- **Phase**: ${task.phase}`}
- **Stage**: ${stage}
- **Ralph Iteration**: ${ordinal}/${maxIterations}`;
}

/** Where the title stands above, it is not said again. */
function specification({ title, description, criteria, review }: Task, isTitleSaid: boolean): string {
  const words = description === "" ? title : description;
  const said = review?.notes.trim() ?? "";
  const text = sections(
    isTitleSaid && words === title ? "" : words,
    criteria.length === 0 ? "" : `### Acceptance criteria\n${bulleted(criteria)}`,
    said === "" ? "" : `### Notes\n${said}`,
  );
  return text === "" ? "" : `## Specification\n${text}`;
}

function bulleted(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}

/** Of each list of paths. */
const PATHS_TOLD = 10;

/** What earlier iterations left, for one that begins with an empty memory. */
function workSoFar({ known: { workBase, left }, base, work, kind }: PromptParts): string {
  const paths = work !== null || kind === "reviewer" || kind === "qa" ? [] : (workBase?.changed.paths ?? []);
  const since = base === null ? "" : ` (\`git diff ${base.slice(0, 12)}\`)`;
  const lines = [
    left?.cutOff == null
      ? ""
      : `The last iteration was interrupted (${left.cutOff}) and may have left something half done.`,
    paths.length === 0
      ? ""
      : `Changed so far: ${few(paths, PATHS_TOLD)}${since}. Look at that first, and go on from there.`,
    left === null || left.words === ""
      ? ""
      : `The last iteration ended with:\n${left.words.replaceAll(/^/gm, "> ").replaceAll(/ +$/gm, "")}`,
  ].filter((line) => line !== "");
  return lines.length === 0 ? "" : `## Work so far\n${lines.join("\n")}`;
}

function notes({ notes: text, notesPath }: PromptParts): string {
  const heading = `## Notes from earlier work (\`${notesPath}\`: add what later ones have to know)`;
  return text.trim() === "" ? "" : `${heading}\n${text.trim()}`;
}

function answeredDecision({ known: { question } }: PromptParts): string {
  if (question === null || question.answer === null) return "";
  const { text, answer, acceptance, iteration } = question;
  if (acceptance === null) return `## Answered decision\nYou asked: ${text}\nThe answer: ${answer}`;
  const [verb, next] = isAcceptance(answer)
    ? ["agreed to", "Nothing has to be changed for it. Finish what is open, and claim again."]
    : ["rejected", "Change what the answer is about before you claim again."];
  return `## A person ${verb} your claim of iteration ${iteration}\nThe question was: ${text}\nThe answer: ${answer}\n${next}`;
}

/** What was sent back, until it is settled; and then what became of it, for whoever looks at it again. */
function findings({ known: { sentBack }, review }: PromptParts): string {
  if (sentBack === null) return "";
  const { by, iteration, findings: found, answers, isOpen } = sentBack;
  if (!isOpen) return answers.length === 0 ? "" : answeredFindings(sentBack);
  // A story has them in its own section.
  if (review !== null) return "";
  return `## Sent back
In iteration ${iteration} ${by === PERSON ? "a person" : `the ${by}`} looked at your work and asks for changes:

${toSettle(found)}`;
}

function toSettle(found: readonly string[]): string {
  const numbered = found.map((finding, index) => `Finding ${index + 1}: ${finding}`).join("\n");
  return `${numbered}\n\n${HOW_TO_SETTLE}`;
}

const HOW_TO_SETTLE = `Change what these are about. Where the work is right as it is, answer on a line of its own, with the number and the
reason: \`Finding 1: …\`. A claim over unchanged files needs an answer to each finding.`;

function answeredFindings({ by, iteration, findings: found, answers }: SentBack): string {
  const items = answers
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `Finding ${number}: ${found[number - 1] ?? ""}\nThe answer: ${text}`);
  return `## Answers to the last findings
The ${by} of iteration ${iteration} asked for changes. The agent left this as it is, and says why. Judge the reason:

${items.join("\n\n")}
`;
}

function requiredEvidence(parts: PromptParts): string {
  const { task, settings, known, lessons } = parts;
  const { gates, git } = settings;
  const checks = gates.map(
    (gate) => `${gate.name}: \`${gate.command}\`${baselineRemark(gate, known.baseline ?? [])}`,
  );
  const lines = [
    task.changes === "none"
      ? "This task needs no change of files: say what you found, and where."
      : "Edit the files with your tools: only what changes in git counts. Name the files you wrote, with line numbers.",
    git.commit === "agent"
      ? "Commit your work; uncommitted changes are rejected."
      : "What you leave uncommitted is committed for you; what you leave running is ended.",
    `Leave ${offLimits(parts)} alone: changes there are undone.`,
    checks.length === 0
      ? ""
      : `These checks run after you and must pass; run them first:\n${bulleted(checks)}`,
    lessons.length === 0
      ? ""
      : `What kept going wrong in this project:\n${bulleted(lessons.map(({ sentence }) => sentence))}`,
  ];
  return `## Required evidence\n${lines.filter((line) => line !== "").join("\n")}`;
}

/** What an agent may take for its own: the plan beside a prompt is, and a story's list has a section of its own. */
function offLimits({ settings: { protect, source, skipReview }, review }: PromptParts): string {
  const isOwn = source.kind === "prompt" || skipReview === true || review !== null;
  const list = source.path === null || isOwn ? [] : [`the task list \`${source.path}\``];
  const named = (protect.named ?? protect.paths).map((glob) => `\`${glob}\``);
  return [...list, ...(named.length === 0 ? [] : [few(named, PATHS_TOLD)]), "Ralph's configuration"]
    .join(", ")
    .replace(/, (?=[^,]*$)/, " and ");
}

function baselineRemark({ name, onBaseline }: GateSettings, baseline: readonly GateOutcome[]): string {
  const before = baseline.find((gate) => gate.name === name);
  if (before === undefined || !isFailing(before.status)) return "";
  const named = before.failures.length === 0 ? "" : ` (${few(before.failures)})`;
  const counts = onBaseline === "tolerate" ? ": only new failures count" : ", and has to pass in the end";
  return `; it was already failing before this task was begun${named}${counts}`;
}

function completion({ task, review, kind, promise, settings, isFirstStage }: PromptParts): string {
  const heading = "## Completion Requirements";
  const tag = `print this on a line of its own:\n\n<promise>${promise}</promise>`;
  const wasDone = `\nIf nothing was left to do when the task began, print \`<promise>ALREADY_DONE:where it is</promise>\`: a person will look.`;
  if (isFirstStage)
    return `${heading}
When all of the task is done and checked, ${tag}

A false claim is rejected. If something is left, say what instead: the next iteration goes on from your words.${task.changes === "none" ? "" : wasDone}`;
  const isLast = review !== null && isAtCap(review, reviewCapOf(settings));
  if (isLast) return `${heading}\nWhen you have looked at it, say why it is approved, and ${tag}`;
  const words =
    review === null && kind === "reviewer" ? 'write "REVIEW PASSED" with your reasons' : "say why";
  return `${heading}
If you have nothing against the work, ${words}, and ${tag}

If something has to be changed first, print instead, on a line of its own, everything that is wrong and where:

<promise>CHANGES_REQUESTED:what is wrong</promise>

It then goes back to the agent that wrote it, with your words. Approve only what you have looked at.`;
}

const ASKING_FOR_HELP = `## If you cannot go on
Nobody can answer while you work: try the alternatives first. If only a person can remove what blocks you, print
\`<promise>BLOCKED:the reason</promise>\` on a line of its own; if only a person can decide,
\`<promise>DECIDE:the question | an option | another option</promise>\`, which may end in \`| default=an option | deadline=30m\`.`;

/** What the iteration is for, where that is not simply the task. */
function stageWork({ review, kind, isFirstStage, settings }: PromptParts): string {
  if (review !== null) return `## Your part\n${storyWork(review, reviewCapOf(settings))}\n\n${FIELDS}`;
  return isFirstStage ? "" : `## Your part\n${WORK[kind]}`;
}

function storyWork(review: StoryReview, cap: number): string {
  const mode = reviewMode([review]);
  if (mode === "implement") return "Implement this story. Another agent will then review it with fresh eyes.";
  if (mode === "review-fix")
    return `A review of this story asks for changes. Make them, all of them, and nothing else:\n\n${toSettle(findingsIn(review.reviewFeedback))}`;
  if (!isAtCap(review, cap)) return WORK.reviewer;
  return `${WORK.reviewer}\n
This story has been reviewed ${review.reviewCount} times, which is as often as it may be: approve it now. Say in your words what is
still not good; its notes will say ${AUTO_APPROVED}.`;
}

const FIELDS = `Ralph writes the review state (\`passes\`, \`reviewStatus\`, \`reviewCount\`, \`reviewFeedback\`) from what you print at the end.
The stories and \`prd.md\` are the operator's: say what should be added, split or reworded; edits are undone and kept as proposals.`;

const OTHER = "Others have worked on this task before you. Do the part that your stage is named after.";

/** What a stage is there for. */
const WORK: Readonly<Record<StageKind, string>> = {
  coder: OTHER,
  other: OTHER,
  reviewer: `Another agent has worked on this task. Review what it did with fresh eyes, against the specification and the code around
it. Look for what does not work, is missing, is unsafe, or will not be understood. Change no files: changes are undone.`,
  tester: `Another agent has worked on this task. Test what it did: run the project's tests, write the tests that are missing,
try what the specification promises. Do not repair the code itself.`,
  qa: `Others have written, reviewed and tested this task. Look at the result as its user would: does it do what the
specification says, from beginning to end? Change no files: changes are undone.`,
};

const LENGTH_MAX = 4_000;
/** Below this an output says nothing. */
const OUTPUT_MIN = 200;
const HEADING = "## Previous Iteration Feedback (DO NOT IGNORE)";

/**
 * What the next prompt says of the iterations before. Each message comes once, the most useful first; when room
 * is short, outputs lose their beginnings first, then the last messages go.
 */
export function feedbackSection(feedback: readonly FeedbackItem[]): string {
  if (feedback.length === 0) return "";
  const outputs = feedback.filter(({ output }) => hasWords(output));
  const words = feedback.reduce((sum, { text }) => sum + text.length + 8, HEADING.length + 80);
  const perOutput = Math.max(OUTPUT_MIN, Math.floor((LENGTH_MAX - words) / Math.max(1, outputs.length)));
  const items = feedback.map((item) => itemText(item, perOutput));
  const shown: string[] = [];
  let length = HEADING.length;
  for (const item of items) {
    if (shown.length > 0 && length + item.length > LENGTH_MAX - 60) break;
    shown.push(item);
    length += item.length + 1;
  }
  const rest = items.length - shown.length;
  const more = rest === 0 ? [] : [`- … and ${rest} more of the kind.`];
  return [HEADING, ...shown, ...more].join("\n").slice(0, LENGTH_MAX);
}

function itemText({ text, output }: FeedbackItem, outputLength: number): string {
  const said = `- ${text.replaceAll("\n", "\n  ")}`;
  if (!hasWords(output)) return said;
  // Whole lines, as many of the last as fit together with their indentation.
  const kept: string[] = [];
  let room = outputLength;
  for (const line of output.trimEnd().split("\n").toReversed()) {
    room -= line.length + 7;
    if (room < 0 && kept.length > 0) break;
    kept.unshift(`      ${line.length > outputLength ? `…${line.slice(-outputLength)}` : line}`);
  }
  return [said, "", ...kept, ""].join("\n");
}

function hasWords(output: string | undefined): output is string {
  return output !== undefined && output.trim() !== "";
}

/** The sections of the prompt, in their fixed order; empty when there is nothing to say. */
const SECTIONS = [
  "task_information",
  "specification",
  "stage_work",
  "success_criteria",
  "notes",
  "decision",
  "feedback",
  "required_evidence",
  "completion_requirements",
  "asking_for_help",
] as const;

/** What a template may say in `{{…}}`. */
export const TEMPLATE_VARIABLES = [
  ...SECTIONS,
  "task_id",
  "title",
  "description",
  "stage",
  "iteration",
  "max_iterations",
  "promise",
] as const;

export type TemplateVariable = (typeof TEMPLATE_VARIABLES)[number];

/** The built-in prompt. */
export const BUILD_TEMPLATE = `${SECTIONS.map((name) => `{{${name}}}`).join("\n\n")}\n`;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Puts the values in; a section that is empty leaves no gap. Text inside values is never looked at again. */
export function renderTemplate(template: string, values: Readonly<Record<TemplateVariable, string>>): string {
  const filled = template.replaceAll(
    PLACEHOLDER,
    (_, name: string) => values[name as TemplateVariable] ?? "",
  );
  return `${filled.replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

export function hasPlaceFor(template: string, name: TemplateVariable): boolean {
  return [...template.matchAll(PLACEHOLDER)].some((match) => match[1] === name);
}

/** What is wrong with a template: the line, and the sentence that mends it. */
export function templateProblem(
  template: string,
): { readonly line: number; readonly message: string } | null {
  const known: readonly string[] = TEMPLATE_VARIABLES;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const name = match[1] ?? "";
    if (known.includes(name)) continue;
    const line = template.slice(0, match.index).split("\n").length;
    const meant = closest(name, known);
    const hint = meant === null ? `known: ${known.join(", ")}` : `did you mean {{${meant}}}?`;
    return { line, message: `unknown variable {{${name}}}; ${hint}` };
  }
  return null;
}
