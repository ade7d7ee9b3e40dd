import type { AnalyzerSignal } from "../../core/verdict/plugin-answers.ts";

/** The version of everything that a plugin sees of us; a plugin says which one it was written for. */
export const API_VERSION = 1;

/** What a plugin adds, by name. All of its parts are optional. */
export interface Plugin {
  readonly apiVersion: 1;
  /** How it is called in messages and in the log: letters, digits, `-`, `_`, `.` */
  readonly name: string;
  /** Programs that can be named as `agent`. */
  readonly agents?: Readonly<Record<string, PluginAgent>>;
  /** Where tasks come from, as `source = "plugin:NAME"`. */
  readonly sources?: Readonly<Record<string, PluginSource>>;
  readonly analyzers?: Readonly<Record<string, PluginAnalyzer>>;
  readonly guards?: Readonly<Record<string, PluginGuard>>;
  /** For open-ended tasks: a prompt without a list. */
  readonly exitRules?: Readonly<Record<string, PluginExitRule>>;
  readonly gates?: Readonly<Record<string, PluginGate>>;
  readonly notifiers?: Readonly<Record<string, PluginNotifier>>;
}

/** Returns the plugin as it is; the compiler and the editor know then what belongs into it. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin;
}

/** A program that works on tasks. */
export interface PluginAgent {
  /** Program and arguments; `{prompt}` and `{prompt_file}` are replaced, otherwise the prompt comes on stdin. */
  readonly command: readonly string[];
  /** What it prints: `text` unless said. */
  readonly format?: "text" | "claude" | "codex" | "gemini" | "opencode" | "copilot" | "acp";
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Taken out of its environment. */
  readonly envDeny?: readonly string[];
  /** Instead of a format: called once for each process, and what it answers with each line of its stdout. */
  readonly createReader?: () => (line: string, facts: AgentFacts) => void;
  /** What its reader tells of what was used: `nothing` unless said. */
  readonly tells?: "cost" | "tokens" | "nothing";
}

/** Where tasks are read and marked. */
export interface PluginSource {
  /** The tasks as they are now. Asked before every iteration, so it should be quick. */
  observe(context: SourceContext): Promise<readonly PluginTask[]> | readonly PluginTask[];
  /** The task is verifiably done. Called again if it failed; marking twice must do no harm. */
  mark(id: string, context: SourceContext): Promise<void> | void;
  /** Takes back a mark that an agent made itself. Without it such marks count. */
  unmark?(id: string, context: SourceContext): Promise<void> | void;
  /** Commands that must pass, beside the configured gates. */
  readonly checks?: readonly string[];
}

/** A task as a source describes it; what is left out is as a checklist would have it. */
export interface PluginTask {
  readonly id: string;
  readonly title: string;
  readonly description?: string | undefined;
  /** Statements that must be true when it is complete. */
  readonly criteria?: readonly string[] | undefined;
  /** What success looks like, in one sentence. */
  readonly success?: string | undefined;
  readonly dependsOn?: readonly string[] | undefined;
  /** Lower goes first. */
  readonly priority?: number | undefined;
  readonly agent?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxIterations?: number | undefined;
  /** The promise that claims it, instead of the configured one. */
  readonly promise?: string | undefined;
  /** False: one iteration, accepted without a promise if the evidence is there. */
  readonly loops?: boolean | undefined;
  /** The task needs no change of files. */
  readonly changes?: "none" | undefined;
  readonly done?: boolean | undefined;
  /** It does not hold up completion. */
  readonly optional?: boolean | undefined;
}

/** Variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface SourceContext {
  /** The root of the repository. */
  readonly root: string;
  readonly env: Environment;
  /** Aborted when the time for the answer is over. */
  readonly signal: AbortSignal;
}

/** One iteration, as its plugins see it. */
export interface IterationContext {
  readonly run: string;
  readonly iteration: number;
  readonly stage: string;
  readonly agent: string;
  readonly task: {
    readonly id: string;
    readonly title: string;
    readonly description: string;
    readonly criteria: readonly string[];
  };
  /** Where it was worked on: the checkout, or the worktree of the task. */
  readonly root: string;
  /** What the agent says of its work; never trusted. */
  readonly claim: "complete" | "blocked" | "undecided" | "already_done" | "unfinished" | "none";
  /** The last words of the agent: 4,000 characters at most. */
  readonly finalText: string;
  /** Everything it printed, without secrets. */
  readonly transcriptFile: string;
  /** Null when it did not exit by itself. */
  readonly exitCode: number | null;
  /** Aborted when the time for the answer is over. */
  readonly signal: AbortSignal;
}

/** Reads what an agent says, and answers what it takes it for. Words never accept: guards and gates still decide. */
export interface PluginAnalyzer {
  analyze(iteration: AnalyzedIteration): Promise<readonly AnalyzerSignal[]> | readonly AnalyzerSignal[];
}

export interface AnalyzedIteration extends IterationContext {
  /** What was read so far, 0–100. */
  readonly confidence: number;
  /** As its tools tell. */
  readonly filesWritten: readonly string[];
  readonly toolCalls: number;
}

/** Looks at what was really done, and says what speaks against it. */
export interface PluginGuard {
  /** When it is asked: about a `claim` of completion (as it is without this), or about the `work` of every iteration. */
  readonly on?: "claim" | "work";
  /** True: its objections are told and recorded, and reject nothing. */
  readonly warns?: boolean;
  /** What the agent should do about an objection. */
  readonly advice?: string;
  /** Objections, each as the end of "claims completion, but …"; none when there is nothing to say. */
  check(iteration: ObservedIteration): Promise<readonly string[]> | readonly string[];
}

export interface ObservedIteration extends IterationContext {
  /** Where the iteration began; null in a repository without a commit. */
  readonly headBefore: string | null;
  readonly headAfter: string | null;
  /** By this iteration. */
  readonly changed: Changes;
  /** By all iterations of the task, net of what they took back. */
  readonly changedSinceTaskBegan: Changes;
}

export interface Changes {
  readonly files: number;
  /** The first 200, relative to the root. */
  readonly paths: readonly string[];
}

/** Says when an open-ended task is over. */
export interface PluginExitRule {
  check(iteration: OpenEndedIteration): Promise<Exit | null> | Exit | null;
}

export interface OpenEndedIteration extends ObservedIteration {
  /** The last iterations before this one, oldest first. */
  readonly earlier: readonly {
    readonly iteration: number;
    readonly done: boolean;
    readonly testOnly: boolean;
  }[];
}

export interface Exit {
  /** `complete` counts only when the required gates pass. */
  readonly ends: "complete" | "failed";
  readonly because: string;
}

/** A check of the project, as a function instead of a command. */
export interface PluginGate {
  /** False: its failure is reported and does not count. */
  readonly required?: boolean;
  /** Ten minutes unless said. */
  readonly timeoutMs?: number;
  /** What it checks, in a word; one of kind "test" runs the tests. */
  readonly kind?: string;
  check(context: GateContext): Promise<GateAnswer> | GateAnswer;
}

export interface GateContext {
  /** What is to be checked: the checkout, or the worktree of the task. */
  readonly root: string;
  readonly env: Environment;
  /** Aborted when its time is over, or the run is stopped. */
  readonly signal: AbortSignal;
}

export interface GateAnswer {
  readonly passed: boolean;
  /** What the agent is told when it did not. */
  readonly output?: string;
}

/** Tells people elsewhere what happens. */
export interface PluginNotifier {
  /** Only these kinds; all of them without it. */
  readonly on?: readonly PluginNotice["kind"][];
  notify(notice: PluginNotice, signal: AbortSignal): Promise<void> | void;
}

/** What a person is told about one fact, with the keys of the JSON that webhooks and commands get. */
export interface PluginNotice {
  readonly schema: "ralph.notice.v1";
  /** The same however often it is sent. */
  readonly id: string;
  readonly kind: "done" | "blocked" | "decide" | "stuck" | "budget" | "limit" | "ended" | "test";
  readonly at: string;
  readonly sent_at: string;
  readonly project: string;
  readonly host: string;
  readonly run: string | null;
  readonly task: string | null;
  /** One sentence. */
  readonly text: string;
  /** What to type next; null when there is nothing to do. */
  readonly command: string | null;
  /** The fact itself, as scripts see it. */
  readonly event: Readonly<Record<string, unknown>> | null;
}

/** What a reader of an agent's output tells us. The last message is the agent's report, where claims are looked for. */
export interface AgentFacts {
  /** A whole message of the agent. */
  says(text: string): void;
  /** The next piece of a message. */
  saysMore(piece: string): void;
  /** The same id twice is one call. Its files count when it ends well. */
  startsTool(id: string, name: string, files?: readonly string[]): void;
  endsTool(id: string, isGood: boolean): void;
  /** Files that it wrote, outside of any tool. */
  writes(paths: readonly string[]): void;
  /** By which its session is known. */
  session(id: string): void;
  /** Which model it uses. */
  model(name: string): void;
  /** What it used so far, all in all; what is left out is not known. */
  uses(usage: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cacheReadTokens?: number;
    readonly costUsd?: number;
  }): void;
  /** The final result. An agent that ends without one has failed. */
  ends(failure?: {
    readonly message: string;
    /** Of HTTP: 429 is a limit, 401 a login that is gone, 5xx passes. */
    readonly status?: number;
  }): void;
}
