import { changesInWords } from "../plan-checks.ts";
import { formatDuration } from "../time.ts";
import { capital, few } from "../text.ts";
import { wasCutOff, type AgentReport, type FailureKind } from "../streams/agent-report.ts";
import { failuresToMend, redGates, redSentence } from "../verdict/checked-gate.ts";
import type { Judgement } from "./judge-iteration.ts";
import { isReading } from "./stages.ts";
import { withChallenges } from "../verdict/concerns.ts";
import { whyNothingCounts, type CaseContext } from "../verdict/facts.ts";
import { ADVICE, type Correction } from "./intervention.ts";

/** An iteration with its verdict. */
export interface Judged extends CaseContext, Omit<Judgement, "context" | "gates"> {
  /** The commit that the task's work counts from. */
  readonly base: string | null;
  /** The exact tag that would have claimed completion. */
  readonly promiseTag: string;
}

/** What the next prompt must say, most useful first. */
export function corrections(judged: Judged): readonly Correction[] {
  const { ruling } = judged.verdict;
  const { failure } = judged.report;
  const aboutWork = [...findingCorrections(judged), ...listCorrections(judged), ...commitCorrections(judged)];
  // It needs no correction; what was found beside it is still worth a record.
  if (ruling === "accepted") return [...confirmation(judged), ...aboutWork];
  if (wasCutOff(judged.report) || (failure !== null && failure.class !== "agent")) return [];
  if (ruling === "blocked" || ruling === "decide" || judged.objection !== null) return aboutWork;
  const told = [
    ...gateCorrections(judged),
    ...challenge(judged),
    ...doubtCorrections(judged),
    ...aboutWork,
    ...endingCorrections(judged),
  ];
  return [...told, ...silenceCorrections(judged, told)];
}

/** How corrections are recorded, by their rule; what is not here names it itself. */
const RECORDED = {
  confirmation: ["agent_reinforced", "info"],
  challenge: ["evidence_validation_failed", "warning"],
  "task-list": ["illegal_transition", "warning"],
  "own-marks": ["illegal_transition", "warning"],
  "commit-hook": ["dirty_tree", "warning"],
  "too-big": ["dirty_tree", "warning"],
  "looks-secret": ["dirty_tree", "warning"],
  timeout: ["timeout", "warning"],
  idle: ["timeout", "warning"],
  ending: ["evidence_validation_failed", "warning"],
  "hidden-promise": ["evidence_validation_failed", "warning"],
  "other-promise": ["evidence_validation_failed", "warning"],
  "no-claim": ["agent_reinforced", "info"],
  "no-files": ["no_files_detected", "critical"],
} as const;

function say(rule: keyof typeof RECORDED, text: string, output?: string): readonly Correction[] {
  const [intervention, severity] = RECORDED[rule];
  return [{ intervention, severity, rule, text, ...(output !== undefined && { output }) }];
}

function confirmation({ iteration, promiseTag, isOpenEnded, evidence }: Judged): readonly Correction[] {
  const text = `Your claim in iteration ${iteration} was accepted. Look once more at the goal as a whole: if nothing is left to do, print ${promiseTag} again; if something is, do it.`;
  return isOpenEnded && evidence.isPlanTicked !== true ? say("confirmation", text) : [];
}

function gateCorrections({ iteration, gates }: Judged): readonly Correction[] {
  return redGates(gates ?? []).map((gate): Correction => {
    const failed = failuresToMend(gate);
    const names = failed.length === 0 ? "" : ` Failing: ${few(failed, 10)}.`;
    const text = `In iteration ${iteration} ${redSentence(gate)}.${names} Fix the cause. ${gate.tail.trim() === "" ? "It printed nothing." : "The end of its output:"}`;
    return {
      intervention: "gate_failed",
      severity: "warning",
      rule: `gate:${gate.name}`,
      text,
      output: gate.tail,
    };
  });
}

/** The agent fixes these or answers them; nothing is held against it yet. */
function challenge({ iteration, verdict, challenged, promiseTag }: Judged): readonly Correction[] {
  if (verdict.ruling !== "challenged") return [];
  const isOpen = (name: string): boolean =>
    verdict.concerns.some((concern) => concern.name === name && concern.settledBy === null);
  const list = withChallenges(challenged, verdict.concerns).flatMap(({ name, sentence }, index) =>
    isOpen(name) ? [`${index + 1}. ${capital(sentence)}. ${ADVICE[name]}`] : [],
  );
  const text = `Your claim in iteration ${iteration} is not accepted yet. Ralph doubts it:
${list.join("\n")}
Fix what is wrong. Where the work is right as it is, answer on a line of its own, with the number and the reason: \`Concern 1: …\`. Then print ${promiseTag} again.`;
  return say("challenge", text);
}

/** What speaks against the claim beside facts: the second reader, a setting, a concern without an answer. */
function doubtCorrections(judged: Judged): readonly Correction[] {
  const { iteration, verdict, challenged, oldChecks, base } = judged;
  if (verdict.ruling !== "rejected") return [];
  const files = oldChecks?.files.slice(0, 5).join(" ") ?? "";
  const since = base === null ? "" : ` Your change of them: \`git diff ${base.slice(0, 12)} -- ${files}\`.`;
  const numbered = withChallenges(challenged, verdict.concerns);
  const real = verdict.concerns.filter(({ isReal }) => isReal === true);
  const ofConcerns = real.map(({ name, sentence, settledBy, answer }): Correction => {
    const number = numbered.findIndex((one) => one.name === name) + 1;
    const fix = `${ADVICE[name]}${name === "old-checks-fail" ? since : ""}`;
    if (settledBy === "reader") {
      const read = `A second reader looked at it: ${asSentence(answer ?? "")}`;
      const orSay = "If it is right, say why in your final words: the next reader sees them.";
      return rejection(iteration, name, `${sentence}. ${read} ${fix} ${orSay}`);
    }
    const orAnswer = ` You were asked about this before: if it is right as it is, answer on a line of its own, \`Concern ${number}: …\`, and claim again.`;
    return rejection(iteration, name, `${sentence}. ${fix}${settledBy === null ? orAnswer : ""}`);
  });
  return [...readerCorrections(judged), ...ofConcerns];
}

/** All criteria that the second reader calls unmet, in one. */
function readerCorrections({ iteration, verdict }: Judged): readonly Correction[] {
  const unmet = verdict.reasons.filter(({ rule }) => rule === "reader").map(({ sentence }) => sentence);
  if (unmet.length === 0) return [];
  const list = unmet.map(asSentence).join(" Besides, ");
  const text = `${list} Do what is missing. If it is there already, say in your final words where, with file and line: the next reader sees them.`;
  return [rejection(iteration, "reader", text)];
}

function rejection(
  iteration: number,
  rule: string,
  text: string,
  intervention: Correction["intervention"] = "evidence_validation_failed",
): Correction {
  const said = `In iteration ${iteration} your claim was rejected: ${text}`;
  return { intervention, severity: "critical", rule, text: said };
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}

function findingCorrections({ iteration, findings, claimed }: Judged): readonly Correction[] {
  const own = findings.filter(({ isBroken }) => isBroken !== true);
  return own.map(({ guard, intervention, sentence, rejects, advice }): Correction => {
    const said = `${sentence}.${advice === null ? "" : ` ${advice}`}`;
    if (claimed && rejects) return rejection(iteration, guard, said, intervention);
    const severity = rejects ? "critical" : "warning";
    return { intervention, severity, rule: guard, text: `In iteration ${iteration}: ${said}` };
  });
}

/** An agent that ticks the box of the very task it then completes does no harm. */
function listCorrections({ iteration, task, verdict, evidence }: Judged): readonly Correction[] {
  const { list = [], marksTakenBack, stories } = evidence;
  const isOwn = (id: string): boolean => id === task?.id && verdict.ruling === "accepted";
  const isHarmless = list.every((change) => change.is === "ticked" && isOwn(change.task));
  // What is against the rules of a review is told one by one.
  if (stories !== undefined && stories.problems.length > 0) return [];
  const marks = marksTakenBack.filter((id) => !isOwn(id));
  if (!isHarmless)
    return say(
      "task-list",
      `In iteration ${iteration} you edited the task list (${changesInWords(list)}). Your edit was undone and kept as a proposal for the operator. ${ADVICE["task-list"]}`,
    );
  if (list.length > 0 || marks.length === 0) return [];
  const text = `In iteration ${iteration} you marked ${few(marks)} as done in the task list, which was undone. ${ADVICE["own-marks"]}`;
  return say("own-marks", text);
}

function commitCorrections({ iteration, evidence: { refusal, leftOut } }: Judged): readonly Correction[] {
  const refused = `After iteration ${iteration} not all of your work could be committed. Fix what git or the repository's hooks said:`;
  return [
    ...(refusal === null ? [] : say("commit-hook", refused, refusal)),
    ...leftOut.flatMap(({ path, why }) => {
      const reason = why === "too-big" ? "it is larger than 10 MB" : "it looks like a secret";
      const text = `In iteration ${iteration} the file ${path} was not committed: ${reason}. Remove it or add it to .gitignore.`;
      return say(why, text);
    }),
  ];
}

/** By the kind of the agent's own failure; what a service refuses is no agent's fault. */
const BROKEN_OFF: Readonly<Record<Exclude<FailureKind, "credit" | "model">, string>> = {
  overflow:
    "the context was full. Take smaller steps: search before you read, read parts of files, shorten long output (`| tail -50`), and leave generated files and lock files unread.",
  length:
    "an answer hit the output limit of the model and was cut off. Write long files in several small edits, and keep what you say short.",
  refusal:
    "the model declined to go on. Do what can be done in plain, small steps; if the task itself cannot be done, print <promise>BLOCKED:which part, and why</promise>.",
  empty:
    "it ended without an answer. Work with your tools, and end with a sentence that says what you did and what is left.",
  turns: "its turns were used up. Do one part after the other, and put several commands into one call.",
  budget: "its budget was used up. Do less in one iteration: read less, and finish one part before the next.",
};

/** What broke it off, and what to do differently. */
function endingCorrections({ iteration, report: { ending, failure } }: Judged): readonly Correction[] {
  if (ending.is === "timed-out") {
    const text = `Iteration ${iteration} was ended after its ${formatDuration(ending.afterMs)}. Take smaller steps, and give long commands a time limit.`;
    return say("timeout", text);
  }
  if (ending.is === "idle") {
    const text = `Iteration ${iteration} was ended: for ${formatDuration(ending.afterMs)} it printed nothing, called no tool, changed no file and used no CPU. Do not wait for what may never come (input, a server, a watcher): give commands a time limit.`;
    return say("idle", text);
  }
  if (failure === null) return [];
  const words =
    failure.kind === undefined || failure.kind === "credit" || failure.kind === "model"
      ? `failed: ${asSentence(failure.message)} If something you did caused this, do it another way.`
      : `broke off: ${BROKEN_OFF[failure.kind]}`;
  return say("ending", `Iteration ${iteration} ${words}`);
}

/** An iteration that changed nothing, or that may be done and did not say so. */
function silenceCorrections(judged: Judged, told: readonly Correction[]): readonly Correction[] {
  const { iteration, verdict, report, gates, promiseTag } = judged;
  if (report.failure !== null) return [];
  const misplaced = misplacedPromise(judged);
  if (isIdle(judged)) return [...misplaced, ...noFiles(judged, told)];
  if (verdict.ruling !== "continue" || saysOpen(report) || misplaced.length > 0) return misplaced;
  const green = gates !== null && redGates(gates).length === 0 ? ", and the gates passed" : "";
  const text = `Iteration ${iteration} ended without a claim${green}. If nothing is left, print ${promiseTag} on a line of its own; otherwise go on.`;
  return say("no-claim", text);
}

/** As prompts ask for it: "Left to do: the header". */
const LEFT =
  /^\W{0,4}(?:what(?: is|'s) )?(?:still )?(?:left|remaining|open|to ?do|next steps?)\b[^\n:]{0,30}:(?!\W{0,4}no(?:ne|thing)\b)/im;

/** Who says so is not asked for a promise. */
function saysOpen({ claim, signals, finalText }: AgentReport): boolean {
  const isSaid = (signals?.contradictions ?? []).length > 0 || LEFT.test(finalText);
  return claim.is === "unfinished" || (claim.is === "none" && isSaid);
}

function misplacedPromise({ iteration, report, promiseTag }: Judged): readonly Correction[] {
  const { promise = null, claim, signals } = report;
  if (claim.is !== "none") return [];
  const hidden = `In iteration ${iteration} your promise stood in a code fence, a quotation, a comment or decoration, where it does not count. If the task is done, print ${promiseTag} as plain text on a line of its own.`;
  const other = `In iteration ${iteration} you printed <promise>${promise?.slice(0, 200)}</promise>, which is not what was asked for. If the task is done, print exactly ${promiseTag}.`;
  return [
    ...(signals?.isPromiseHidden === true ? say("hidden-promise", hidden) : []),
    ...(promise === null ? [] : say("other-promise", other)),
  ];
}

/** It changed nothing where something had to be changed. */
function isIdle({ evidence, stage, settings, task, verdict }: Judged): boolean {
  const mayBe = isReading(settings, stage) || task?.changes === "none" || verdict.ruling === "challenged";
  return evidence.changed.files === 0 && !mayBe;
}

/** Counted for every iteration without files; where the true cause is told already, it is not told twice. */
function noFiles(judged: Judged, told: readonly Correction[]): readonly Correction[] {
  const { verdict, report, iteration } = judged;
  const real = verdict.concerns.filter(({ isReal }) => isReal === true).map(({ name }) => name);
  const causes: readonly string[] = ["no-changes", "findings", "off-branch", "protected-paths", ...real];
  const isGates = (rule: string): boolean => report.claim.is === "already-done" && rule.startsWith("gate:");
  const known = told.find(({ rule }) => causes.includes(rule) || isGates(rule));
  return say("no-files", known?.text ?? `In iteration ${iteration} ${nothingWritten(judged)}`);
}

function nothingWritten({ evidence, verdict, report, promiseTag }: Judged): string {
  const { cause, advice } = whyNothingCounts(evidence);
  if (cause !== "") return `nothing changed that counts: ${cause}. ${advice}`;
  if (evidence.changedSinceTaskBegan.files === 0) return `you wrote NO FILES. ${advice}`;
  if (verdict.ruling === "rejected")
    return "you changed nothing, and what was there before is not enough yet.";
  const orClaim = saysOpen(report) ? "" : `; if nothing is left, print ${promiseTag} on a line of its own`;
  return `you changed nothing. Go on with what is left${orClaim}.`;
}
