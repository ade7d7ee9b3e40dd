import { fieldsOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";
import type { McpServer, Send, Write } from "../agent-adapter.ts";
import { offersOf, otherVersion, PROTOCOL_VERSION, type AgentOffers } from "./acp-offers.ts";
import { answerPermission, type Permitting } from "./acp-permissions.ts";
import { reportOf } from "./acp-report.ts";
import { modelsOf, settingsFor, type Setting } from "./acp-settings.ts";
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
  readonly version: string;
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

const METHOD_NOT_FOUND = -32_601;
/** Where an error is no failure of the agent: there is another way. */
const WISHES: readonly string[] = ["session/resume", "session/load", "session/set_mode", "_session/steering"];

export function startAcpConversation(request: AcpConversationRequest, write: Write): AcpConversation {
  const servers = request.mcpServers.map(({ name }) => name);
  const permitting = { permissions: request.permissions, servers };
  const peer = createJsonRpcPeer(write, (method, params) => reply(method, params, permitting));
  const turn = createAcpTurn(peer);
  let offers: AgentOffers = offersOf({});
  let sessionId: string | null = null;

  const ask = (
    method: string,
    params: object,
    onResult: (result: Fields) => void,
    onRefusal: () => void = () => turn.end(),
  ): void => {
    void peer.request(method, params, (answer) => {
      if (answer.is === "result") onResult(answer.result);
      else onRefusal();
    });
  };
  const set = (id: string, [setting, ...others]: readonly Setting[]): void => {
    if (setting === undefined) turn.begin(id, request.exactPrompt, offers.messages);
    else {
      const goOn = (): void => set(id, others);
      const isWish = WISHES.includes(setting.method);
      ask(setting.method, { sessionId: id, ...setting.params }, goOn, isWish ? goOn : () => turn.end());
    }
  };
  const open = (resume: string | null): void => {
    const method = (resume === null ? null : offers.resumes) ?? "session/new";
    const place = { cwd: request.cwd, mcpServers: request.mcpServers.map(serverOf) };
    const begin = (session: Fields): void => {
      if (request.model !== null && !modelsOf(session).includes(request.model)) return turn.end();
      sessionId = textOf(session["sessionId"]) ?? resume ?? "";
      set(sessionId, settingsFor(session, request, method === "session/load"));
    };
    if (method === "session/new") ask(method, place, begin);
    // Work in a fresh session is better than none.
    else ask(method, { sessionId: resume, ...place }, begin, () => open(null));
  };

  ask("initialize", introduction(request.version), (initialized) => {
    offers = offersOf(initialized);
    if (otherVersion(initialized) === null) open(request.resume);
    else turn.end();
  });
  return {
    receive(message) {
      // Before the prompt it talks of other things: the history of a session, a mode that was set.
      const isAnswer = textOf(message["method"]) === null;
      // What is said after the answer to the prompt is not part of it; what it has cost may come so late.
      const isLate = turn.isOver() && !tellsUsage(message);
      const isEarly = !isAnswer && !turn.isBegun();
      const answered = peer.receive(message);
      if (isEarly || isLate || (isAnswer && (answered === null || WISHES.includes(answered)))) return null;
      const isResumed = sessionId !== null && sessionId === request.resume;
      const { logins } = offers;
      return reportOf(message, { answered, sessionId, isResumed, logins, model: request.model });
    },
    tell: (text) => turn.tell(text),
    cancel: () => turn.cancel(),
    isOver: () => turn.isOver(),
    end: () => turn.end(),
  };
}

function tellsUsage(message: Fields): boolean {
  return fieldsOf(fieldsOf(message["params"])["update"])["sessionUpdate"] === "usage_update";
}

function introduction(version: string): object {
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
