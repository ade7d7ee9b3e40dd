import { textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";
import type { McpServer, Send, Write } from "../agent-adapter.ts";
import { offersOf, type AgentOffers } from "./acp-offers.ts";
import { answerPermission, type Permitting } from "./acp-permissions.ts";
import { reportOf } from "./acp-report.ts";
import { settingsFor, type Setting } from "./acp-settings.ts";
import { createAcpTurn } from "./acp-turn.ts";
import { createJsonRpcPeer, type Reply } from "./json-rpc.ts";

export interface AcpConversationRequest {
  /** As the agent is to get it, with whatever secrets it has. */
  readonly exactPrompt: string;
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
  readonly permissions: Permissions;
  readonly model: string | null;
  /** The session to go on with, where the agent can. */
  readonly resume: string | null;
  /** Ours, as the agent is told. */
  readonly version?: string;
}

/** One session of an agent, from the first word to the answer to our prompt. */
export interface AcpConversation {
  /** Takes a message of the agent; answers what of it is to be reported. */
  receive(message: Fields): Fields | null;
  readonly tell: Send;
  cancel(): Promise<boolean>;
  isOver(): boolean;
  /** Nothing more will come. */
  end(): void;
}

const PROTOCOL_VERSION = 1;
const METHOD_NOT_FOUND = -32_601;
/** Where an error is no failure of the agent. */
const WISHES: readonly (string | null)[] = ["session/set_mode", "_session/steering"];

export function startAcpConversation(request: AcpConversationRequest, write: Write): AcpConversation {
  const servers = request.mcpServers.map(({ name }) => name);
  const permitting = { permissions: request.permissions, servers };
  const peer = createJsonRpcPeer(write, (method, params) => reply(method, params, permitting));
  const turn = createAcpTurn(peer);
  let offers: AgentOffers = offersOf({});
  let sessionId: string | null = null;

  const ask = (method: string, params: object, onResult: (result: Fields) => void): void => {
    void peer.request(method, params, (answer) => {
      if (answer.is === "result") onResult(answer.result);
      else if (WISHES.includes(method)) onResult({});
      else turn.end();
    });
  };
  const set = (id: string, [setting, ...others]: readonly Setting[]): void => {
    if (setting === undefined) turn.begin(id, request.exactPrompt, offers.messages);
    else ask(setting.method, { sessionId: id, ...setting.params }, () => set(id, others));
  };
  const open = (): void => {
    const resumed = offers.resumes === null ? null : request.resume;
    const method = resumed === null ? "session/new" : (offers.resumes ?? "");
    const place = { cwd: request.cwd, mcpServers: request.mcpServers.map(serverOf) };
    ask(method, resumed === null ? place : { sessionId: resumed, ...place }, (session) => {
      sessionId = textOf(session["sessionId"]) ?? resumed ?? "";
      set(sessionId, settingsFor(session, request, method === "session/load"));
    });
  };

  ask("initialize", introduction(request.version), (initialized) => {
    offers = offersOf(initialized);
    open();
  });
  return {
    receive(message) {
      // Before the prompt it talks of other things: the history of a session, a mode that was set.
      const isEarly = !turn.isBegun() && textOf(message["method"]) !== null;
      const answered = peer.receive(message);
      if (isEarly || WISHES.includes(answered)) return null;
      const isResumed = sessionId !== null && sessionId === request.resume;
      return reportOf(message, { answered, sessionId, isResumed, logins: offers.logins });
    },
    tell: (text) => turn.tell(text),
    cancel: () => turn.cancel(),
    isOver: () => turn.isOver(),
    end: () => turn.end(),
  };
}

function introduction(version = "0"): object {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "ralph", title: "Ralph", version },
  };
}

function reply(method: string, params: Fields, permitting: Permitting): Reply {
  return method === "session/request_permission"
    ? { result: answerPermission(params, permitting) }
    : { error: { code: METHOD_NOT_FOUND, message: `"${method}" is not available` } };
}

function serverOf({ name, command, args, env }: McpServer): object {
  return { name, command, args, env: Object.entries(env).map(([key, value]) => ({ name: key, value })) };
}
