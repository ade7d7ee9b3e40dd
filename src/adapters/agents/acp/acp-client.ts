import { readAcpMessage } from "../../../core/streams/acp-stream.ts";
import type { StreamTranslator } from "../../../core/streams/stream-facts.ts";
import { pieceIn } from "../../../core/streams/stream-format.ts";
import type { AgentAdapter, AgentReader, ReaderRequest } from "../agent-adapter.ts";
import { usageInRecord } from "../programs/gemini-program.ts";
import { fewRetries } from "../programs/claude-program.ts";
import { READS_ONLY } from "../programs/opencode-program.ts";
import { belongingsOfCommand, programIn } from "../programs/program-belongings.ts";
import { createEventReader, jsonEvents } from "../stream-reader.ts";
import {
  type AcpConversation,
  type AcpConversationRequest,
  refusedCall,
  startAcpConversation,
} from "./acp-conversation.ts";

export interface AcpReaderRequest extends ReaderRequest, AcpConversationRequest {}

export type AcpReader = ReturnType<typeof createAcpReader>;

/** All is said by then, and some never exit. */
const EXIT_MS = 2_000;

/** Speaks the Agent Client Protocol with an agent, and reports what it says. */
export function createAcpReader(request: AcpReaderRequest) {
  let conversation: AcpConversation | null = null;
  const translate: StreamTranslator = (event, facts) => {
    const told = conversation === null ? event : conversation.receive(event);
    if (told === null) return true;
    const isKnown = readAcpMessage(told, facts);
    const refused = refusedCall(event, request);
    if (refused !== null) facts.denies(refused);
    // Each message that joins the turn is answered, and the turn goes on until the last of them is.
    if (conversation?.isOver() === false && facts.read().isOver) facts.goesOn();
    return isKnown;
  };
  const reader = createEventReader(jsonEvents(translate), request);
  return {
    ...reader,
    pieceIn: (line: string) => pieceIn("acp", line),
    converse(write) {
      conversation = startAcpConversation(request, write);
      return conversation.tell;
    },
    isOver: () => conversation?.isOver() ?? false,
    cancel: async () => (await conversation?.cancel()) ?? false,
    exitMs: EXIT_MS,
    result(ending) {
      conversation?.end();
      return reader.result(ending);
    },
  } satisfies AgentReader;
}

/** Any agent that speaks the Agent Client Protocol: one adapter for all of them. */
export const acpAdapter: AgentAdapter = {
  can: { resumes: true, takesMessages: true, takesMcpServers: true, tells: "tokens" },
  command: ({ agent, env, isRoot }) => ({
    command: [...(agent.command ?? []), ...agent.args],
    input: null,
    // Each variable is read by one program only and does not affect the others.
    env: {
      ...fewRetries(env),
      // Claude otherwise refuses to work for root without asking.
      ...(isRoot && { IS_SANDBOX: "1" }),
      ...(agent.permissions === "read" && READS_ONLY),
    },
  }),
  belongings: ({ command }, env) => belongingsOfCommand(command ?? [], env),
  sandboxesItself: ({ command, permissions }) =>
    permissions !== "full" && programIn(command ?? []) === "codex",
  createReader(request, { agent, prompt, session, workspace, mcpServer, version, env }) {
    const reader = createAcpReader({
      ...request,
      exactPrompt: prompt,
      cwd: workspace,
      mcpServers: [mcpServer],
      permissions: agent.permissions,
      model: agent.model,
      version,
      resume: session.isNew ? null : session.id,
    });
    if (programIn(agent.command ?? []) !== "gemini") return reader;
    return {
      ...reader,
      result(ending) {
        const result = reader.result(ending);
        return { ...result, usage: usageInRecord(result.usage, result.sessionId ?? "", env) };
      },
    };
  },
};
