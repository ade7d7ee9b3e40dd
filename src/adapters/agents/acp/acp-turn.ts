import type { AgentOffers } from "./acp-offers.ts";
import type { Answer, JsonRpcPeer } from "./json-rpc.ts";

/** The work on our prompt, and what is said to the agent meanwhile. */
export interface AcpTurn {
  begin(sessionId: string, prompt: string, messages: AgentOffers["messages"]): void;
  /** Whether the message has come into the turn; before it begins, the message waits. */
  tell(text: string): Promise<boolean>;
  /** Asks the agent to end it. */
  cancel(): Promise<boolean>;
  isBegun(): boolean;
  /** All that was asked is answered, or will not be. */
  isOver(): boolean;
  end(): void;
}

/** To whom messages go, and how. */
interface Recipient {
  readonly sessionId: string;
  readonly messages: AgentOffers["messages"];
}

export function createAcpTurn(peer: JsonRpcPeer): AcpTurn {
  let recipient: Recipient | null = null;
  let prompts = 0;
  let isOver = false;
  /** Who waits for the turn to begin, or for the answer to a message. */
  const waiting = new Set<(isGood: boolean) => void>();
  const settle = (isGood: boolean): void => {
    for (const resolve of waiting) resolve(isGood);
    waiting.clear();
  };
  const end = (): void => {
    isOver = true;
    settle(false);
  };
  const prompt = (sessionId: string, text: string): Promise<boolean> => {
    prompts += 1;
    return peer.request("session/prompt", { sessionId, prompt: blocksOf(text) }, () => {
      prompts -= 1;
      if (prompts === 0) end();
    });
  };
  const steer = async (sessionId: string, text: string): Promise<boolean> =>
    new Promise((resolve) => {
      waiting.add(resolve);
      const params = { sessionId, prompt: blocksOf(text), _meta: IF_RUNNING };
      void peer.request("_session/steering", params, (answer) => {
        waiting.delete(resolve);
        resolve(isInjected(answer));
      });
    });
  return {
    begin(sessionId, text, messages) {
      recipient = { sessionId, messages };
      void prompt(sessionId, text);
      settle(true);
    },
    async tell(text) {
      if (recipient === null && !isOver) await new Promise((resolve) => waiting.add(resolve));
      if (recipient === null || isOver || recipient.messages === null) return false;
      const { sessionId, messages } = recipient;
      return messages === "steering" ? steer(sessionId, text) : prompt(sessionId, text);
    },
    cancel: async () =>
      recipient !== null && !isOver && peer.notify("session/cancel", { sessionId: recipient.sessionId }),
    isBegun: () => recipient !== null,
    isOver: () => isOver,
    end,
  };
}

/** A turn that has ended meanwhile is not to begin again with the message. */
const IF_RUNNING = { steering: { idleBehavior: "promptRequired" } };

function isInjected(answer: Answer): boolean {
  return answer.is === "result" && answer.result["outcome"] === "injected";
}

function blocksOf(text: string): readonly object[] {
  return [{ type: "text", text }];
}
