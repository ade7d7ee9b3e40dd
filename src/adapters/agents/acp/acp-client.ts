import { readAcpMessage } from "../../../core/report/streams/acp-stream.ts";
import type { AgentReader, ReaderRequest } from "../agent-adapter.ts";
import { createTranslatedReader } from "../stream-reader.ts";
import {
  startAcpConversation,
  type AcpConversation,
  type AcpConversationRequest,
} from "./acp-conversation.ts";

export interface AcpReaderRequest extends ReaderRequest, AcpConversationRequest {}

export interface AcpReader extends AgentReader {
  converse: NonNullable<AgentReader["converse"]>;
  isOver(): boolean;
  cancel(): Promise<boolean>;
}

/** All is said by then, and some never exit. */
const EXIT_MS = 2_000;

/** Speaks the Agent Client Protocol with an agent, and reports what it says. */
export function createAcpReader(request: AcpReaderRequest): AcpReader {
  let conversation: AcpConversation | null = null;
  const reader = createTranslatedReader((event, facts) => {
    const told = conversation === null ? event : conversation.receive(event);
    if (told === null) return true;
    const isKnown = readAcpMessage(told, facts);
    // Each message that joins the turn is answered, and the turn goes on until the last of them is.
    if (conversation?.isOver() === false && facts.read().isOver) facts.goesOn();
    return isKnown;
  }, request);
  return {
    ...reader,
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
  };
}
