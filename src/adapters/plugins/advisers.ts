import { join } from "node:path";
import { z } from "zod";
import { noticeJson, type Sending } from "../../core/views/notice.ts";
import { type AgentReport, claimName } from "../../core/streams/agent-report.ts";
import type { AnalyzerAnswer, ExitAnswer, GuardAnswer } from "../../core/verdict/plugin-answers.ts";
import type { Channel, Advisers, Subject, Work } from "../../engine/ports.ts";
import { askPlugin, inWords, messageOf, type PartName, PluginFailure, shortName } from "./ask-plugin.ts";
import type {
  IterationContext,
  ObservedIteration,
  PluginAnalyzer,
  PluginExitRule,
  PluginGuard,
  PluginNotice,
  PluginNotifier,
} from "./plugin.ts";

export interface Part<Kind> {
  readonly part: PartName;
  readonly does: Kind;
}

interface AdvisersOptions {
  readonly analyzers: readonly Part<PluginAnalyzer>[];
  readonly guards: readonly Part<PluginGuard>[];
  readonly exitRules: readonly Part<PluginExitRule>[];
  /** The user's checkout. */
  readonly root: string;
  readonly ralphDir: string;
  readonly warn: (text: string) => void;
}

const LIMIT_MS = 30_000;
const OBJECTIONS_MAX = 20;
const SENTENCE_LENGTH_MAX = 500;

/** The parts of plugins that say something about iterations; undefined when there are none. */
export function advisersOf(options: AdvisersOptions): Advisers | undefined {
  const { analyzers, guards, exitRules, warn } = options;
  if (analyzers.length + guards.length + exitRules.length === 0) return undefined;
  return {
    async analyze(subject, report) {
      const answers: AnalyzerAnswer[] = [];
      for (const { part, does } of analyzers) {
        try {
          const said = await askPlugin(part, LIMIT_MS, (signal) =>
            does.analyze({
              ...contextOf(options, subject, report, signal),
              confidence: report.signals?.confidence ?? 0,
              filesWritten: report.filesWritten ?? [],
              toolCalls: report.toolCalls,
            }),
          );
          const words = `a list of signals { says: ${SAYS.join(" | ")}, confidence: 0–100 }`;
          const signals = readAnswer(part, SIGNALS, said, words);
          answers.push(...signals.map((one) => ({ ...one, analyzer: shortName(part) })));
        } catch (error) {
          warn(`${messageOf(error)}; the iteration is read without it`);
        }
      }
      return answers;
    },
    async inspect(subject, work) {
      const { exitSignals } = work;
      const wanted = guards.filter(({ does }) => does.on === "work" || work.isClaimed);
      const rules = exitSignals === null ? [] : exitRules;
      if (wanted.length + rules.length === 0) return undefined;
      const answers: GuardAnswer[] = [];
      for (const guard of wanted) answers.push(await askGuard(guard, subject, work, options));
      const exits: ExitAnswer[] = [];
      for (const rule of rules) exits.push(...(await askExitRule(rule, subject, work, options)));
      return { guards: answers, exits };
    },
  };
}

/** Whether a claim is right is not known when a guard cannot say: its failure is an answer. */
async function askGuard(
  { part, does }: Part<PluginGuard>,
  subject: Subject,
  work: Work,
  options: AdvisersOptions,
): Promise<GuardAnswer> {
  const { on = "claim", warns = false, advice = null } = does;
  const about = { guard: shortName(part), on, warns, advice };
  try {
    const said: unknown = await askPlugin(part, LIMIT_MS, (signal) =>
      does.check(observedOf(options, subject, work, signal)),
    );
    const objections = readAnswer(part, SENTENCES, said, "a list of sentences");
    return { ...about, objections, failure: null };
  } catch (error) {
    const failure = messageOf(error);
    options.warn(failure);
    return { ...about, objections: [], failure };
  }
}

async function askExitRule(
  { part, does }: Part<PluginExitRule>,
  subject: Subject,
  work: Work,
  options: AdvisersOptions,
): Promise<readonly ExitAnswer[]> {
  const earlier = (work.exitSignals ?? []).map(({ iteration, done, testOnly }) => ({
    iteration,
    done,
    testOnly,
  }));
  try {
    const said = await askPlugin(part, LIMIT_MS, (signal) =>
      does.check({ ...observedOf(options, subject, work, signal), earlier }),
    );
    const exit = readAnswer(part, EXIT, said, '{ ends: "complete" or "failed", because }');
    return exit == null ? [] : [{ rule: shortName(part), ...exit }];
  } catch (error) {
    options.warn(`${messageOf(error)}; the task goes on without it`);
    return [];
  }
}

function contextOf(
  { root, ralphDir }: AdvisersOptions,
  subject: Subject,
  { claim, finalText, transcript, ending }: AgentReport,
  signal: AbortSignal,
): IterationContext {
  const { id, title, description, criteria } = subject.task;
  return {
    run: subject.run,
    iteration: subject.iteration,
    stage: subject.stage,
    agent: subject.agent,
    task: { id, title, description, criteria },
    root: subject.root ?? root,
    claim: claimName(claim),
    finalText,
    transcriptFile: join(ralphDir, transcript.path),
    exitCode: ending.is === "exited" ? ending.code : null,
    signal,
  };
}

function observedOf(
  options: AdvisersOptions,
  subject: Subject,
  { report, evidence }: Work,
  signal: AbortSignal,
): ObservedIteration {
  const { headBefore, headAfter, changed, changedSinceTaskBegan } = evidence;
  const context = contextOf(options, subject, report, signal);
  return { ...context, headBefore, headAfter, changed, changedSinceTaskBegan };
}

/** Reads what a part answered as what it should be, or says what that is. */
function readAnswer<Answer>(
  part: PartName,
  shape: z.ZodType<Answer>,
  answer: unknown,
  words: string,
): Answer {
  const read = shape.safeParse(answer);
  if (read.success) return read.data;
  throw new PluginFailure(part, `answered something else than ${words}`);
}

const sentence = z.string().transform((words) => words.trim().slice(0, SENTENCE_LENGTH_MAX));
const SENTENCES = z.array(sentence).transform((all) => all.slice(0, OBJECTIONS_MAX));
const SAYS = ["complete", "blocked", "doubt", "test-only", "stuck"] as const;
const SIGNALS = z.array(
  z.object({
    says: z.enum(SAYS),
    confidence: z.number().min(0).max(100),
    because: sentence.exactOptional(),
  }),
);
const EXIT = z.object({ ends: z.enum(["complete", "failed"]), because: sentence }).nullish();

/** A notifier of a plugin, as a way to reach people. Each notice is given to it once. */
export function pluginChannel({ part, does }: Part<PluginNotifier>, sending: () => Sending): Channel {
  return {
    name: `plugin:${shortName(part)}`,
    shown: inWords(part),
    async send(notice) {
      if (does.on !== undefined && !does.on.includes(notice.kind)) return { is: "delivered" };
      const told = noticeJson(notice, sending()) as unknown as PluginNotice;
      try {
        // Nobody's impatience ends it: what has begun would be done twice.
        await askPlugin(part, LIMIT_MS, (signal) => does.notify(told, signal));
        return { is: "delivered" };
      } catch (error) {
        return { is: "refused", why: messageOf(error) };
      }
    },
  };
}
