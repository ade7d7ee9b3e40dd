import type { Message } from "./conversation.ts";
import { oddModel } from "./odd-models.ts";
import { cutOff, fail, mcp, serve, shell, text, write, type Reply } from "./reply.ts";

export interface Situation {
  /** Results of tools since the user spoke last. */
  readonly step: number;
  readonly userText: string;
  readonly messages: readonly Message[];
  readonly results: readonly string[];
  /** Which request this is under its scenario and tag, from 1. */
  readonly request: number;
  /** How many texts have ended a turn under this scenario and tag before. */
  readonly answersBefore: number;
}

export type Scenario = (situation: Situation) => Reply;

/** What a prompt says when an earlier claim was not believed; the words of every prompt must not match. */
export const FEEDBACK = /previous iteration feedback|claim was rejected/i;
export const STEERING = /use the v2 API/i;
const READER = /^# Second reader$/m;
const MAY_NOT_STOP = /^Stop hook feedback:/;

const MEMORY = "4711";
const STEPS_MAX = 20;
const COMMIT = "git add -A && git commit -qm work";
const SERVER = "nohup sleep 300 >/dev/null 2>&1 &";
const FIVE_MEGABYTES = "yes abcdefgh | head -c 5000000";
/** Looks like a token of GitHub, and comes in several pieces. */
export const SPELT = `ghp_${"a1B2c3D4".repeat(5)}`;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  success: worksAndCommits,
  "write-only": writesOnly,
  "commit-when-told": (at) => (MAY_NOT_STOP.test(at.userText) ? commitsOnly(at) : writesOnly(at)),
  story: takesStoryFurther,
  "lie-then-honest": (at) => (FEEDBACK.test(at.userText) ? worksAndCommits(at) : claim(fileName(at))),
  blocked: () => text("I cannot go on.\n\n<promise>BLOCKED:no database password</promise>"),
  "blocked-in-words": () => text("BLOCKED: no database password"),
  slowtool: ({ step }) =>
    step === 0 ? shell("(setsid sleep 300 >/dev/null 2>&1 &); sleep 300") : text("That took long."),
  odd: oddModel,
  server: (at) => (at.step === 0 ? serve("sleep 300") : worksAndCommits({ ...at, step: at.step - 1 })),
  stall: () => ({ is: "stall" }),
  drop: () => ({ is: "drop" }),
  steer: sleepsUntilSteered,
  "mcp-complete": completesThroughTools,
  "mcp-decide": ({ step }) =>
    step === 0
      ? mcp("ask_decision", { question: "Which database?", options: ["sqlite", "postgres"] })
      : text("I asked."),
  "mcp-blocked": ({ step }) =>
    step === 0 ? mcp("task_blocked", { reason: "no database password" }) : text("I said what is missing."),
  echo: ({ userText }) => text(userText),
  flaky: (at) =>
    at.request === 1
      ? fail("overloaded", 1)
      : at.request === 2
        ? fail("rate-limited", 1)
        : worksAndCommits(at),
  err401: () => fail("unauthorized"),
  err429: () => fail("rate-limited"),
  err529: () => fail("overloaded"),
  errusage: () => fail("usage-limit"),
  "no-credit": () => fail("no-credit"),
  "unknown-model": () => fail("unknown-model"),
  "too-long": () => fail("too-long"),
  silent: () => text(""),
  spends: ({ step }) => (step < STEPS_MAX ? shell("sleep 1") : text("That was dear.")),
  "cut-off": () => cutOff("I shall now write the whole of it at once. "),
  "leaves-a-server": (at) => [write(fileName(at)), shell(SERVER)][at.step] ?? claim(fileName(at)),
  "much-output": (at) => [shell(FIVE_MEGABYTES), write(fileName(at))][at.step] ?? claim(fileName(at)),
  spells: () => text(`The key is ${SPELT}, as you know.`),
  resume: remembers,
  forbidden: writesOnly,
  envdump: ({ step }) => (step === 0 ? shell("env > env.txt") : claim("env.txt")),
  "reader-met": asReader(() => review("met")),
  "reader-not-met": asReader(() => review("not_met")),
  "reader-malformed": asReader(() => text("<review>\nAll of it looks good to me.\n</review>")),
  "reader-reads": asReader((at) =>
    at.step === 0 ? shell("git diff HEAD~1 HEAD") : review("met", at.results[0]),
  ),
  "reader-edits": asReader(
    (at) => [write("edited.txt"), shell("echo x > shell.txt")][at.step] ?? review("met"),
  ),
  "reader-tool": asReader((at) =>
    at.step === 0 ? mcp("submit_review", reviewOf("met")) : text("I have said what I found."),
  ),
  "reader-limit": asReader(() => fail("rate-limited")),
};

/** Does the task as a worker, and this where the prompt is for a second reader. */
function asReader(reads: Scenario): Scenario {
  return (at) =>
    at.messages.some(({ text: words }) => READER.test(words)) ? reads(at) : worksAndCommits(at);
}

function review(answer: string, reason?: string): Reply {
  return text(`I have read it.\n\n<review>\n${JSON.stringify(reviewOf(answer, reason))}\n</review>`);
}

function reviewOf(answer: string, reason = "hello.txt:1 shows it"): Readonly<Record<string, unknown>> {
  return { criteria: [{ criterion: 1, answer, reason }], concerns: [] };
}

function worksAndCommits(at: Situation): Reply {
  const name = fileName(at);
  return [write(name), shell(COMMIT)][at.step] ?? claim(name);
}

function writesOnly(at: Situation): Reply {
  const name = fileName(at);
  return at.step === 0 ? write(name) : claim(name);
}

function commitsOnly(at: Situation): Reply {
  return at.step === 0 ? shell(COMMIT) : claim(fileName(at));
}

/** In its first review it wants to stop without a decision; told that it may not, it asks for changes. */
function takesStoryFurther(at: Situation): Reply {
  const mode = at.messages.map(({ text: words }) => /\*\*Stage\*\*: ([\w-]+)/.exec(words)?.[1]).find(Boolean);
  if (mode === "implement") return worksAndCommits(at);
  if (mode === "review-fix") return at.step === 0 ? write("fixed.txt") : claim("fixed.txt");
  if (MAY_NOT_STOP.test(at.userText))
    return text("<promise>CHANGES_REQUESTED:fixed.txt is missing</promise>");
  return at.answersBefore === 1
    ? text("I have read the changes.")
    : text("All of it is there now.\n\n<promise>APPROVED</promise>");
}

/** Clients deliver what the user says meanwhile in different roles, so any but the model's own counts. */
function sleepsUntilSteered({ messages, step }: Situation): Reply {
  const heardAt = messages.findLastIndex(({ role, text }) => role !== "assistant" && STEERING.test(text));
  if (heardAt === -1) return step < STEPS_MAX ? shell("sleep 3") : text("Nobody told me anything.");
  const isWritten = messages.slice(heardAt + 1).some(({ role }) => role === "tool");
  return isWritten ? claim("steered.txt") : write("steered.txt");
}

function completesThroughTools(at: Situation): Reply {
  const name = fileName(at);
  const steps = [
    mcp("get_task"),
    write(name),
    mcp("report_progress", { message: `wrote ${name}` }),
    mcp("task_complete", { summary: `Created ${name}.` }),
  ];
  return steps[at.step] ?? text(`Created \`${name}\`.`);
}

/** The first conversation says a number; later ones show by their file whether they still know it. */
function remembers(at: Situation): Reply {
  const knows = at.messages.some(({ role, text }) => role === "assistant" && text.includes(MEMORY));
  if (at.answersBefore === 0 && !knows) {
    return at.step === 0 ? write("first.txt") : text(`remember: ${MEMORY}`);
  }
  const name = knows ? "resumed.txt" : "fresh.txt";
  return at.step === 0 ? write(name) : claim(name);
}

function claim(name: string): Reply {
  return text(`Created \`${name}\`.\n\n<promise>COMPLETE</promise>`);
}

/** The file that the prompt, or a tool that was asked for the task, wants written. */
function fileName({ userText, results }: Situation): string {
  const wish = /\bwrite\s+[`"']?([\w/-][\w./-]*\.\w+)/i;
  for (const words of [userText, ...results]) {
    const name = wish.exec(words)?.[1];
    if (name !== undefined) return name;
  }
  return "hello.txt";
}
