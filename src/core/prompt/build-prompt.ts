import { few } from "../few.ts";
import type { Question } from "../loop/state.ts";
import type { Task } from "../plan/task.ts";
import { isFailing, type GateOutcome } from "../report/checked-gate.ts";
import type { GateSettings } from "../settings.ts";
import type { StoryReview } from "../review/story-review.ts";
import { isReading } from "../stages/stages.ts";
import { feedbackSection } from "./feedback-section.ts";
import { reviewCompletion, storyWork } from "./story-work.ts";
import { stageCompletion, stageWork } from "./stage-work.ts";
import { BUILD_TEMPLATE, hasPlaceFor, renderTemplate } from "./template.ts";
import type { FeedbackItem } from "../interventions/intervention.ts";
import type { Lesson } from "../interventions/lessons.ts";

export interface PromptParts {
  readonly task: Task;
  readonly stage: string;
  /** The one that writes the code; later ones look at it. */
  readonly isFirstStage: boolean;
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
    stage_work:
      parts.review === null
        ? stageWork(parts.stage, parts.isFirstStage)
        : storyWork(parts.review, parts.reviewCap),
    success_criteria: task.success === null ? "" : `## Success criteria\n${task.success}`,
    notes: notes(parts),
    decision: [answeredDecision(parts), parts.messages].filter((section) => section !== "").join("\n\n"),
    feedback: leads ? "" : feedback,
    required_evidence: isReading(parts.stage) ? "" : requiredEvidence(parts),
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
  return `## Answered decision\nYou asked: ${question.text}\nThe answer: ${question.answer}`;
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
  const { review, stage, promise, reviewCap, isFirstStage } = parts;
  if (isFirstStage) return completionRequirements(parts);
  return review === null ? stageCompletion(stage, promise) : reviewCompletion(review, promise, reviewCap);
}

function completionRequirements({ promise }: PromptParts): string {
  return `## Completion Requirements
When the task is genuinely and completely done, print this on a line of its own:

<promise>${promise}</promise>

Print it only when everything above is true: your work is verified, and a false promise is rejected.
If there is more to do, say what, and do not print it: another iteration follows.
If all of it was there before the task was begun and nothing is left to change, do not claim it: print
\`<promise>BLOCKED:already done</promise>\` on a line of its own, and a person will look.`;
}

function askingForHelp(): string {
  return `## If you cannot go on
For a genuine blocker that only a person can remove, print \`<promise>BLOCKED:the reason</promise>\` on a line of its own;
for a decision that only a person can make, \`<promise>DECIDE:the question</promise>\`. Options may follow the question, each
after a \`|\`, and \`default=an option\` with \`deadline=30m\` for what is to be done when nobody answers in time. Try the
alternatives first: neither is a way round difficult work.`;
}
