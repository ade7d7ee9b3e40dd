import { lastUserText, resultsSinceUser, type Conversation } from "./conversation.ts";
import type { Reply } from "./reply.ts";
import type { Scenario, Situation } from "./scenarios.ts";
import { callToGoOnWaiting, toolCallFor, type ToolCall } from "./tool-call.ts";
import type { Turn, Usage } from "./wire-format.ts";

/** What the server knows of the requests under one scenario and tag. */
export interface Memory {
  requests: number;
  answers: number;
  bodies: readonly unknown[];
}

const UNFINISHED = "This answer breaks off before it comes to its point. ".repeat(4);
/** For titles, summaries, and the JSON with which a client chooses a model or the next speaker. */
const SIDE_ANSWER = JSON.stringify({
  title: "Scripted task",
  reasoning: "scripted",
  model_choice: "flash",
  complexity_reasoning: "scripted",
  complexity_score: 10,
  next_speaker: "user",
});

/** What the model does, and the words and calls that its answer consists of. */
export function replyTo(
  conversation: Conversation,
  scenario: Scenario,
  memory: Memory,
): { readonly reply: Reply; readonly turn: Turn } {
  const { messages, tools, model } = conversation;
  const results = resultsSinceUser(messages);
  const usage = usageAt(results.length);
  const situation = {
    step: results.length,
    userText: lastUserText(messages),
    messages,
    results,
    answersBefore: memory.answers,
  };
  if (tools.length === 0) {
    return { reply: sideReply(scenario, situation), turn: { model, say: SIDE_ANSWER, calls: [], usage } };
  }
  memory.requests += 1;
  const waiting = callToGoOnWaiting(conversation);
  if (waiting !== undefined) {
    const reply: Reply = { is: "actions", say: "", actions: [] };
    return { reply, turn: { model, say: reply.say, calls: [waiting], usage } };
  }
  const reply = scenario({ ...situation, request: memory.requests });
  if (reply.is === "text") memory.answers += 1;
  return { reply, turn: { model, usage, ...wordsAndCalls(reply, conversation) } };
}

/** A request without tools is not for the script, but where all requests fail it fails too. */
function sideReply(scenario: Scenario, situation: Omit<Situation, "request">): Reply {
  const reply = scenario({ ...situation, request: Number.POSITIVE_INFINITY });
  return reply.is === "failure" ? reply : { is: "text", text: SIDE_ANSWER };
}

function wordsAndCalls(reply: Reply, conversation: Conversation): Pick<Turn, "say" | "calls" | "isCutOff"> {
  if (reply.is === "text") return { say: reply.text, calls: [], isCutOff: reply.isCutOff === true };
  if (reply.is !== "actions") return { say: UNFINISHED, calls: [] };
  const calls: ToolCall[] = [];
  for (const action of reply.actions) {
    const call = toolCallFor(action, conversation);
    if (call === undefined) return { say: `There is no tool for ${JSON.stringify(action)}.`, calls: [] };
    calls.push(call);
  }
  return { say: reply.say, calls };
}

/** Different at each step, so that a sum cannot be right by chance. */
function usageAt(step: number): Usage {
  return { input: 1_000 + 100 * step, cacheRead: 500, cacheWrite: 200, output: 40 + step, reasoning: 7 };
}
