import { join } from "node:path";
import { z } from "zod";
import { noticeJson, type Sending } from "../../core/views/notice.ts";
import { type AgentReport, claimName } from "../../core/streams/agent-report.ts";
import type { AnalyzerAnswer, ExitAnswer, GuardAnswer } from "../../core/verdict/plugin-answers.ts";
import type { Advisers, Channel, Subject } from "../../engine/ports.ts";
import {
  askPlugin,
  inWords,
  messageOf,
  type Part,
  type PartName,
  readAnswer,
  shortName,
} from "./ask-plugin.ts";
import type {
  IterationContext,
  ObservedIteration,
  PluginAnalyzer,
  PluginExitRule,
  PluginGuard,
  PluginNotice,
  PluginNotifier,
} from "./plugin.ts";

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
          const signals = await ask(part, SIGNALS, (signal) =>
            does.analyze({
              ...contextOf(options, subject, report, signal),
              confidence: report.signals?.confidence ?? 0,
              filesWritten: report.filesWritten ?? [],
              toolCalls: report.toolCalls,
            }),
          );
          answers.push(...signals.map((one) => ({ ...one, analyzer: shortName(part) })));
        } catch (error) {
          warn(`${messageOf(error)}; the iteration is read without it`);
        }
      }
      return answers;
    },
    async inspect(subject, work) {
      const wanted = guards.filter(({ does }) => does.on === "work" || work.isClaimed);
      const rules = work.exitSignals === null ? [] : exitRules;
      if (wanted.length + rules.length === 0) return undefined;
      const observe = (signal: AbortSignal): ObservedIteration => {
        const { headBefore, headAfter, changed, changedSinceTaskBegan } = work.evidence;
        const context = contextOf(options, subject, work.report, signal);
        return { ...context, headBefore, headAfter, changed, changedSinceTaskBegan };
      };
      const answers: GuardAnswer[] = [];
      for (const guard of wanted) answers.push(await askGuard(guard, observe, warn));
      const earlier = (work.exitSignals ?? []).map(({ iteration, done, testOnly }) => ({
        iteration,
        done,
        testOnly,
      }));
      const exits: ExitAnswer[] = [];
      for (const { part, does } of rules) {
        try {
          const exit = await ask(part, EXIT, (signal) => does.check({ ...observe(signal), earlier }));
          if (exit != null) exits.push({ rule: shortName(part), ...exit });
        } catch (error) {
          warn(`${messageOf(error)}; the task goes on without it`);
        }
      }
      return { guards: answers, exits };
    },
  };
}

async function ask<Answer>(
  part: PartName,
  shape: z.ZodType<Answer>,
  question: (signal: AbortSignal) => unknown,
): Promise<Answer> {
  return readAnswer(part, shape, await askPlugin(part, LIMIT_MS, question));
}

/** Whether a claim is right is not known when a guard cannot say: its failure is an answer. */
async function askGuard(
  { part, does }: Part<PluginGuard>,
  observe: (signal: AbortSignal) => ObservedIteration,
  warn: (text: string) => void,
): Promise<GuardAnswer> {
  const { on = "claim", warns = false, advice = null } = does;
  const about = { guard: shortName(part), on, warns, advice };
  try {
    const objections = await ask(part, SENTENCES, (signal) => does.check(observe(signal)));
    return { ...about, objections, failure: null };
  } catch (error) {
    const failure = messageOf(error);
    warn(failure);
    return { ...about, objections: [], failure };
  }
}

function contextOf(
  { root, ralphDir }: AdvisersOptions,
  { run, iteration, stage, agent, task, root: worktree }: Subject,
  { claim, finalText, transcript, ending }: AgentReport,
  signal: AbortSignal,
): IterationContext {
  const { id, title, description, criteria } = task;
  return {
    run,
    iteration,
    stage,
    agent,
    task: { id, title, description, criteria },
    root: worktree ?? root,
    claim: claimName(claim),
    finalText,
    transcriptFile: join(ralphDir, transcript.path),
    exitCode: ending.is === "exited" ? ending.code : null,
    signal,
  };
}

const sentence = z.string().transform((words) => words.trim().slice(0, SENTENCE_LENGTH_MAX));
const SENTENCES = z
  .array(sentence)
  .transform((all) => all.slice(0, OBJECTIONS_MAX))
  .describe("a list of sentences");
const SAYS = ["complete", "blocked", "doubt", "test-only", "stuck"] as const;
const SIGNALS = z
  .array(
    z.object({
      says: z.enum(SAYS),
      confidence: z.number().min(0).max(100),
      because: sentence.exactOptional(),
    }),
  )
  .describe(`a list of signals { says: ${SAYS.join(" | ")}, confidence: 0–100 }`);
const EXIT = z
  .object({ ends: z.enum(["complete", "failed"]), because: sentence })
  .nullish()
  .describe('{ ends: "complete" or "failed", because }');

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
