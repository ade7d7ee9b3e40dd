import { isAcceptance } from "../loop/task-status.ts";
import type { FeedbackItem, Lesson } from "../interventions/intervention.ts";
import type { Question } from "../loop/state.ts";
import type { Task } from "../plan/task.ts";
import { type GateOutcome, isFailing } from "../report/checked-gate.ts";
import { AUTO_APPROVED, isAtCap, reviewMode, type StoryReview } from "../review/story-review.ts";
import type { GateSettings } from "../settings.ts";
import { findingsIn, type SentBack, type StageKind } from "../stages/stages.ts";
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
  readonly sentBack: SentBack | null;
  /** Where it stands in the review cycle; null outside of it. */
  readonly review: StoryReview | null;
  readonly reviewCap: number;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly promise: string;
  readonly gates: readonly GateSettings[];
  readonly commit: "ralph" | "agent";
  readonly notes: string;
  readonly question: Question | null;
  /** What the operator wants the agent to know, as a section; empty when there is nothing. */
  readonly messages: string;
  readonly feedback: readonly FeedbackItem[];
  /** The feedback comes before everything else. */
  readonly feedbackLeads: boolean;
  /** How the gates stood before the task was begun; null when nobody measured. */
  readonly baseline: readonly GateOutcome[] | null;
  readonly lessons: readonly Lesson[];
  /** The operator's own; null is the built-in one. */
  readonly template: string | null;
}

/** What the agent is told; the template decides the order. */
export function buildPrompt(parts: PromptParts): string {
  const { task } = parts;
  const feedback = feedbackSection(parts.feedback);
  const leads = parts.feedbackLeads && feedback !== "";
  const prompt = renderTemplate(templateFor(parts), {
    task_information: taskInformation(parts),
    specification: specification(parts),
    stage_work: [
      parts.review === null
        ? stageWork(parts.kind, parts.isFirstStage)
        : storyWork(parts.review, parts.reviewCap),
      parts.work === null ? "" : changeSection(parts.work),
    ]
      .filter((section) => section !== "")
      .join("\n\n"),
    success_criteria: task.success === null ? "" : `## Success criteria\n${task.success}`,
    notes: notes(parts),
    decision: [answeredDecision(parts), parts.messages].filter((section) => section !== "").join("\n\n"),
    feedback: [findings(parts), leads ? "" : feedback].filter((section) => section !== "").join("\n\n"),
    required_evidence: parts.kind === "reviewer" || parts.kind === "qa" ? "" : requiredEvidence(parts),
    completion_requirements: completion(parts),
    asking_for_help: askingForHelp(),
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

function specification({ task }: PromptParts): string {
  const description = task.description === "" ? task.title : task.description;
  const criteria = task.criteria.map((criterion) => `- ${criterion}`).join("\n");
  const acceptance = criteria === "" ? "" : `\n\n### Acceptance criteria\n${criteria}`;
  const said = task.review?.notes.trim() ?? "";
  return `## Specification\n${description}${acceptance}${said === "" ? "" : `\n\n### Notes\n${said}`}`;
}

function notes({ notes: text }: PromptParts): string {
  return text.trim() === "" ? "" : `## Notes from earlier work (progress.txt)\n${text.trim()}`;
}

function answeredDecision({ question }: PromptParts): string {
  if (question === null || question.answer === null) return "";
  if (question.acceptance !== null) return judgedByPerson(question, question.answer);
  return `## Answered decision\nYou asked: ${question.text}\nThe answer: ${question.answer}`;
}

function judgedByPerson({ iteration, text }: Question, answer: string): string {
  const [verb, next] = isAcceptance(answer)
    ? ["agreed to", "Nothing has to be changed for it. Finish what is open, and claim again."]
    : ["rejected", "Change what the answer is about before you claim again."];
  return `## A person ${verb} your claim of iteration ${iteration}\nThe question was: ${text}\nThe answer: ${answer}\n${next}`;
}

/** What was sent back, until it is settled; and then what became of it, for whoever looks at it again. */
function findings({ sentBack, review }: PromptParts): string {
  if (sentBack === null) return "";
  const { by, iteration, findings: found, answers, isOpen } = sentBack;
  if (!isOpen) return answers.length === 0 ? "" : answeredFindings(sentBack);
  // A story has them in its own section.
  if (review !== null) return "";
  return `## Sent back
In iteration ${iteration} the ${by} looked at your work and asks for changes:

${numbered(found)}

${HOW_TO_SETTLE}`;
}

const HOW_TO_SETTLE = `Change what these are about. Where the work is right as it is, answer on a line of its own, with the number and the
reason: \`Finding 1: …\`. A claim over unchanged files without an answer to each finding is rejected.`;

function numbered(found: readonly string[]): string {
  return found.map((finding, index) => `Finding ${index + 1}: ${finding}`).join("\n");
}

function answeredFindings({ by, iteration, findings: found, answers }: SentBack): string {
  const items = answers
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `Finding ${number}: ${found[number - 1] ?? ""}\nThe answer: ${text}`);
  return `## Answers to the last findings
The ${by} of iteration ${iteration} asked for changes. The agent left this as it is, and says why. Judge the reason:

${items.join("\n\n")}
`;
}

function requiredEvidence({ gates, commit, baseline, lessons }: PromptParts): string {
  const checks = gates.map(
    (gate) => `- ${gate.name}: \`${gate.command}\`${baselineRemark(gate, baseline ?? [])}`,
  );
  const gateText =
    checks.length === 0
      ? ""
      : `\nThese checks of the project will be run after you, and must pass:\n${checks.join("\n")}`;
  const commitText =
    commit === "agent"
      ? "Commit your work; uncommitted changes are rejected."
      : "What you leave uncommitted is committed for you.";
  const standing = lessons.map(({ sentence }) => `- ${sentence}`).join("\n");
  const lessonText = standing === "" ? "" : `\nWhat kept going wrong in this project:\n${standing}`;
  return `## Required evidence
Write the files in this workspace; what changed in git is what counts. Name the files you wrote, with line numbers.
${commitText}${gateText}${lessonText}`;
}

function baselineRemark(gate: GateSettings, baseline: readonly GateOutcome[]): string {
  const before = baseline.find(({ name }) => name === gate.name);
  if (before === undefined || !isFailing(before.status)) return "";
  const named = before.failures.length === 0 ? "" : ` (${few(before.failures)})`;
  return gate.onBaseline === "tolerate"
    ? `; it was already failing before this task was begun${named}: only new failures count`
    : `; it was already failing before this task was begun${named}, and has to pass in the end`;
}

function completion(parts: PromptParts): string {
  const { review, kind, promise, reviewCap, isFirstStage } = parts;
  if (isFirstStage) return completionRequirements(parts);
  return review === null ? stageCompletion(kind, promise) : reviewCompletion(review, promise, reviewCap);
}

function completionRequirements({ promise }: PromptParts): string {
  return `## Completion Requirements
When the task is genuinely and completely done, print this on a line of its own:

<promise>${promise}</promise>

Print it only when everything above is true: your work is verified, and a false promise is rejected.
If there is more to do, say what, and do not print it: another iteration follows.
If all of it was there before the task was begun and nothing is left to change, print
\`<promise>ALREADY_DONE:where it is</promise>\` on a line of its own instead, and a person will look.`;
}

function askingForHelp(): string {
  return `## If you cannot go on
For a genuine blocker that only a person can remove, print \`<promise>BLOCKED:the reason</promise>\` on a line of its own;
for a decision that only a person can make, \`<promise>DECIDE:the question</promise>\`. Options may follow the question, each
after a \`|\`, and \`default=an option\` with \`deadline=30m\` for what is to be done when nobody answers in time. Try the
alternatives first: neither is a way round difficult work.`;
}

/** What an iteration in the review cycle is for, as a section of its prompt. */
export function storyWork(review: StoryReview, cap: number): string {
  return `## Your part\n${workOf(review, cap)}\n\n${FIELDS}`;
}

function workOf(review: StoryReview, cap: number): string {
  switch (reviewMode([review])) {
    case "implement":
      return "Implement this story. Another agent will then review it with fresh eyes.";
    case "review-fix":
      return `A review of this story asks for changes. Make them, all of them, and nothing else:

${numbered(findingsIn(review.reviewFeedback))}

${HOW_TO_SETTLE}`;
    case "review":
      return isAtCap(review, cap) ? `${REVIEW}\n\n${atCap(review)}` : REVIEW;
  }
}

const REVIEW = `Another agent has worked on this story. Review what it did with fresh eyes: read the changes (\`git log\`, \`git diff\`),
the acceptance criteria, and the code around them. Look for what does not work, is missing, is unsafe, or will not be
understood. Change no files: whatever you change is put back.`;

function atCap({ reviewCount }: StoryReview): string {
  return `This story has been reviewed ${reviewCount} times, which is as often as it may be: approve it now. Say in your words what is
still not good; its notes will say ${AUTO_APPROVED}.`;
}

const FIELDS = `The review state in the file with the stories (\`passes\`, \`reviewStatus\`, \`reviewCount\`, \`reviewFeedback\`) is written for you, from
what you print at the end. If stories should be added, split or reworded, say so: the list and \`prd.md\` are the operator's,
and your edits of them are undone and shown as proposals.`;

/** How a review says what it found. */
export function reviewCompletion(review: StoryReview, promise: string, cap: number): string {
  const approval = `## Completion Requirements
${isAtCap(review, cap) ? "When you have looked at it" : "If it is good"}, say in your words why, and print this on a line of its own:

<promise>${promise}</promise>`;
  if (isAtCap(review, cap)) return approval;
  return `${approval}

If something has to be changed first, print instead, on a line of its own, everything that is wrong and where:

<promise>CHANGES_REQUESTED:what is wrong</promise>

The story then goes back to the agent that wrote it, with your words. Approve only what you have looked at.`;
}

/** What a stage is there for, as a section of its prompt; empty for one that writes the code. */
export function stageWork(kind: StageKind, isFirst: boolean): string {
  return isFirst ? "" : `## Your part\n${WORK[kind]}`;
}

const OTHER = "Others have worked on this task before you. Do the part that your stage is named after.";

const WORK: Readonly<Record<StageKind, string>> = {
  coder: OTHER,
  other: OTHER,
  reviewer: `Another agent has worked on this task. Review what it did with fresh eyes: read the changes (\`git log\`, \`git diff\`), the
specification above, and the code around them. Look for what does not work, is missing, is unsafe, or will not be
understood. Change no files: whatever you change is put back.`,
  tester: `Another agent has worked on this task. Test what it did: run the project's tests, write the tests that are missing,
try what the specification promises. Do not repair the code itself.`,
  qa: `Others have written, reviewed and tested this task. Look at the result as its user would: does it do what the
specification says, from beginning to end? Change no files: whatever you change is put back.`,
};

/** How a later stage says what it found. */
export function stageCompletion(kind: StageKind, promise: string): string {
  const words = kind === "reviewer" ? 'write "REVIEW PASSED" with your reasons, and then' : "";
  return `## Completion Requirements
If your part is done and you have nothing against it, ${words === "" ? "" : `${words} `}print this on a line of its own:

<promise>${promise}</promise>

If something has to be changed first, print instead, on a line of its own, everything that is wrong and where:

<promise>CHANGES_REQUESTED:what is wrong</promise>

The task then goes back to the agent that wrote it, with your words. Approve only what you have looked at.`;
}

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
  const lines = lastLines(output, outputLength).split("\n");
  return [said, "", ...lines.map((line) => `      ${line}`), ""].join("\n");
}

/** Whole lines, as many of the last as fit together with their indentation. */
function lastLines(output: string, length: number): string {
  const lines = output.trimEnd().split("\n");
  const kept: string[] = [];
  let room = length;
  for (const line of lines.toReversed()) {
    room -= line.length + 7;
    if (room < 0 && kept.length > 0) break;
    kept.unshift(line.length > length ? `…${line.slice(-length)}` : line);
  }
  return kept.join("\n");
}

function hasWords(output: string | undefined): output is string {
  return output !== undefined && output.trim() !== "";
}

/** What a template may say in `{{…}}`; the first ten are whole sections, empty when there is nothing to say. */
export const TEMPLATE_VARIABLES = [
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
  "task_id",
  "title",
  "description",
  "stage",
  "iteration",
  "max_iterations",
  "promise",
] as const;

export type TemplateVariable = (typeof TEMPLATE_VARIABLES)[number];

/** The built-in prompt: every section, in its fixed order. */
export const BUILD_TEMPLATE = `{{task_information}}

{{specification}}

{{stage_work}}

{{success_criteria}}

{{notes}}

{{decision}}

{{feedback}}

{{required_evidence}}

{{completion_requirements}}

{{asking_for_help}}
`;

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
