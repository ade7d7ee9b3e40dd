import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  numberOf,
  textOf,
} from "../../../core/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";
import type { McpServer, Send, Write } from "../agent-adapter.ts";
import { READERS_SETTINGS } from "../programs/claude-program.ts";

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
  const peer = createJsonRpcPeer(write, (method, params) => reply(method, params, request));
  const turn = createAcpTurn(peer);
  let offers: AgentOffers = offersOf({});
  let sessionId: string | null = null;

  const ask = (
    method: string,
    params: object,
    onResult: (result: Fields) => void,
    onRefusal: () => void = () => turn.end(),
  ): void => {
    void peer.request(method, params, (result) => (result === null ? onRefusal() : onResult(result)));
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
    const place = {
      cwd: request.cwd,
      mcpServers: request.mcpServers.map(serverOf),
      ...(request.permissions === "read" && {
        _meta: { claudeCode: { options: { settings: READERS_SETTINGS } } },
      }),
    };
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

function reply(method: string, params: Fields, request: AcpConversationRequest): Reply {
  return method === "session/request_permission"
    ? { result: answerPermission(params, request) }
    : { error: { code: METHOD_NOT_FOUND, message: `"${method}" is not available` } };
}

function serverOf({ name, command, args, env }: McpServer): object {
  return { name, command, args, env: Object.entries(env).map(([key, value]) => ({ name: key, value })) };
}

/** The work on our prompt, and what is said to the agent meanwhile. */
interface AcpTurn {
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

function createAcpTurn(peer: JsonRpcPeer): AcpTurn {
  /** To whom messages go, and how. */
  let recipient: { readonly sessionId: string; readonly messages: AgentOffers["messages"] } | null = null;
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
      void peer.request("_session/steering", params, (result) => {
        waiting.delete(resolve);
        resolve(result?.["outcome"] === "injected");
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

function blocksOf(text: string): readonly object[] {
  return [{ type: "text", text }];
}

/** What we know of a message that it does not say itself. */
interface Circumstances {
  /** The method of ours that it answers. */
  readonly answered: string | null;
  readonly sessionId: string | null;
  readonly isResumed: boolean;
  /** The names of the ways to log in. */
  readonly logins: readonly string[];
  /** That was asked for. */
  readonly model: string | null;
}

const AUTH_REQUIRED = -32_000;
const NOT_FOUND = -32_002;

function reportOf(message: Fields, known: Circumstances): Fields {
  const { error, result } = message;
  if (isFields(error)) return { ...message, error: errorOf(error, known) };
  const misfit = isFields(result) ? misfitOf(result, known) : null;
  if (misfit !== null) return { error: { code: NOT_FOUND, message: misfit } };
  // An answer about a session that we named does not name it.
  if (result !== undefined && known.sessionId !== null)
    return { ...message, result: { ...fieldsOf(result), sessionId: known.sessionId } };
  return known.isResumed ? withoutCost(message) : message;
}

/** Why we cannot work with what the agent answers, though it is no error. */
function misfitOf(result: Fields, { answered, model }: Circumstances): string | null {
  const version = answered === "initialize" ? otherVersion(result) : null;
  if (version !== null) return `it speaks version ${version} of the protocol, not ${PROTOCOL_VERSION}`;
  const isOpening = answered !== null && OPENING.includes(answered);
  if (!isOpening || model === null || modelsOf(result).includes(model)) return null;
  const offered = modelsOf(result).join(", ");
  return `it does not offer the model "${model}"${offered === "" ? ", or any other" : `, but: ${offered}`}`;
}

const OPENING: readonly string[] = ["session/new", "session/load", "session/resume"];

function errorOf(error: Fields, { logins }: Circumstances): Fields {
  if (error["code"] !== AUTH_REQUIRED || logins.length === 0) return error;
  const said = textOf(error["message"]) ?? "Authentication required";
  return { ...error, message: `${said} (it offers: ${logins.join(", ")})` };
}

/** The cost of a session counts from its beginning, and nobody says how much of it is old. */
function withoutCost(message: Fields): Fields {
  const params = fieldsOf(message["params"]);
  const update = fieldsOf(params["update"]);
  if (update["sessionUpdate"] !== "usage_update") return message;
  return { ...message, params: { ...params, update: { ...update, cost: null } } };
}

/** What changing files needs. Nobody watches, so commands, the network and tools of others are not part of it. */
const READS: readonly unknown[] = ["read", "search", "think"];
const EDITS: readonly unknown[] = [...READS, "edit", "delete", "move"];

/** Allows a tool for this once: some agents write a lasting permission into the repository. */
function answerPermission(params: Fields, request: AcpConversationRequest): object {
  const options = listOf(params["options"]).map(fieldsOf);
  const isAllowed = isPermitted(fieldsOf(params["toolCall"]), request);
  const wishes = isAllowed ? ["allow_once", "reject_once"] : ["reject_once", "reject_always"];
  for (const wish of wishes) {
    const optionId = textOf(options.find(({ kind }) => kind === wish)?.["optionId"]);
    if (optionId !== null) return { outcome: { outcome: "selected", optionId } };
  }
  return { outcome: { outcome: "cancelled" } };
}

/** The call that we refuse the agent; null when its message is about something else. */
export function refusedCall({ method, params }: Fields, request: AcpConversationRequest): string | null {
  const call = fieldsOf(fieldsOf(params)["toolCall"]);
  const isRefused = method === "session/request_permission" && !isPermitted(call, request);
  return isRefused ? (textOf(call["toolCallId"]) ?? "") : null;
}

function isPermitted(call: Fields, { permissions, mcpServers }: AcpConversationRequest): boolean {
  // Whatever it may do, it may talk to us.
  if (mcpServers.some(({ name }) => isToolOf(name, call))) return true;
  switch (permissions) {
    case "full":
      return true;
    case "edits":
      return EDITS.includes(call["kind"]);
    case "read":
      return READS.includes(call["kind"]);
    // Its own settings have decided what it may do; what it asks for nevertheless needs a person.
    case "own":
      return false;
  }
}

/** Agents name a tool of a server `mcp__server__tool`, `mcp_server_tool`, `server_tool` or `tool (server MCP Server)`. */
function isToolOf(server: string, { kind, name, title, toolCallId }: Fields): boolean {
  if (kind !== undefined && kind !== null && kind !== "other") return false;
  const prefixes = ["mcp__", "mcp_", "mcp.", ""].map((prefix) => `${prefix}${server}`);
  const names = [name, title, toolCallId].map((text) => textOf(text) ?? "");
  return names.some(
    (text) =>
      prefixes.some((prefix) => text.startsWith(prefix) && /^[_.-]/.test(text.slice(prefix.length))) ||
      text.endsWith(` (${server} MCP Server)`),
  );
}

/** Something to say to the agent before the prompt. */
interface Setting {
  readonly method: string;
  readonly params: object;
}

/** How agents call the mode in which they ask for nothing, or for everything that is not reading. */
const MODES: Readonly<Partial<Record<Permissions, readonly string[]>>> = {
  full: ["bypassPermissions", "agent-full-access", "yolo"],
  read: ["read-only", "default"],
};

/**
 * What to set in a session. One that was loaded is set in any case: some tell its history only after they have
 * answered, and before they answer the next request.
 */
function settingsFor(
  session: Fields,
  { permissions, model }: AcpConversationRequest,
  isLoaded: boolean,
): readonly Setting[] {
  const modes = fieldsOf(session["modes"]);
  const current = modes["currentModeId"];
  const offered = listOf(modes["availableModes"]).map((mode) => fieldsOf(mode)["id"]);
  const wanted = MODES[permissions]?.find((mode) => offered.includes(mode)) ?? current;
  const isToSet = typeof wanted === "string" && (wanted !== current || isLoaded);
  const mode = isToSet ? { method: "session/set_mode", params: { modeId: wanted } } : null;
  return [mode, model === null ? null : settingOfModel(session, model)].filter((setting) => setting !== null);
}

/** Sets the session to a model, if it does not have it. */
function settingOfModel(session: Fields, model: string): Setting | null {
  const option = modelOption(session);
  if (option !== undefined && valuesOf(option).includes(model))
    return option["currentValue"] === model
      ? null
      : { method: "session/set_config_option", params: { configId: option["id"], value: model } };
  return fieldsOf(session["models"])["currentModelId"] === model
    ? null
    : { method: "session/set_model", params: { modelId: model } };
}

function modelsOf(session: Fields): readonly string[] {
  const option = modelOption(session);
  const listed = listOf(fieldsOf(session["models"])["availableModels"]).map(
    (one) => fieldsOf(one)["modelId"],
  );
  return [...(option === undefined ? [] : valuesOf(option)), ...listed.map(textOf)].filter(
    (id) => id !== null,
  );
}

function modelOption(session: Fields): Fields | undefined {
  const options = listOf(session["configOptions"]).map(fieldsOf);
  return options.find(({ category, id }) => category === "model" || id === "model");
}

/** Options may stand in groups. */
function valuesOf(option: Fields): readonly (string | null)[] {
  return listOf(option["options"])
    .map(fieldsOf)
    .flatMap((one) => ("options" in one ? valuesOf(one) : [textOf(one["value"])]));
}

const PROTOCOL_VERSION = 1;

/** The version of the protocol that the agent insists on, when it is another one. */
function otherVersion(initialized: Fields): number | null {
  const version = numberOf(initialized["protocolVersion"]);
  return version === PROTOCOL_VERSION ? null : version;
}

interface AgentOffers {
  /** By which method an earlier session is gone on with; null when it cannot be. */
  readonly resumes: "session/resume" | "session/load" | null;
  /** How a message reaches a running turn: by an extension, or as a second prompt; null when it cannot. */
  readonly messages: "steering" | "prompt" | null;
  /** The names of the ways to log in. */
  readonly logins: readonly string[];
}

/** A second prompt joins the running turn only with these. With others it cancels the turn, or waits for its end. */
const JOINING: readonly unknown[] = ["OpenCode", "@agentclientprotocol/claude-agent-acp"];

function offersOf(initialized: Fields): AgentOffers {
  const capabilities = fieldsOf(initialized["agentCapabilities"]);
  const steering = fieldsOf(fieldsOf(initialized["_meta"])["steering"]);
  const { name } = fieldsOf(initialized["agentInfo"]);
  const logins = listOf(initialized["authMethods"]).map(fieldsOf);
  return {
    resumes: resumesBy(capabilities),
    messages: steering["supported"] === true ? "steering" : JOINING.includes(name) ? "prompt" : null,
    logins: logins
      .map((login) => textOf(login["name"]) ?? textOf(login["id"]))
      .filter((login) => login !== null),
  };
}

/** Loading tells the whole history again, resuming does not. */
function resumesBy(capabilities: Fields): AgentOffers["resumes"] {
  if (isFields(fieldsOf(capabilities["sessionCapabilities"])["resume"])) return "session/resume";
  return capabilities["loadSession"] === true ? "session/load" : null;
}

type Reply = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** Called with the result; null: the other side has refused. */
type OnAnswer = (result: Fields | null) => void;

interface JsonRpcPeer {
  /** Answers at once whether it could be written; `onAnswer` is called when the answer is there, if ever. */
  request(method: string, params: object, onAnswer: OnAnswer): Promise<boolean>;
  notify(method: string, params: object): Promise<boolean>;
  /** Takes a message of the other side, an answer or a request to reply to; of an answer it says to which method. */
  receive(message: Fields): string | null;
}

/** One side of JSON-RPC, a message a line. Everything happens within the call, nothing later. */
function createJsonRpcPeer(write: Write, reply: (method: string, params: Fields) => Reply): JsonRpcPeer {
  const open = new Map<number, { readonly method: string; readonly onAnswer: OnAnswer }>();
  let last = 0;
  const send = (message: object): Promise<boolean> =>
    write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    request(method, params, onAnswer) {
      const id = ++last;
      open.set(id, { method, onAnswer });
      return send({ id, method, params });
    },
    notify: (method, params) => send({ method, params }),
    receive(message) {
      const { id } = message;
      const method = textOf(message["method"]);
      if (method !== null) {
        if (id !== undefined && id !== null) void send({ id, ...reply(method, fieldsOf(message["params"])) });
        return null;
      }
      const asked = typeof id === "number" ? open.get(id) : undefined;
      if (asked === undefined) return null;
      open.delete(Number(id));
      asked.onAnswer(isFields(message["error"]) ? null : fieldsOf(message["result"]));
      return asked.method;
    },
  };
}
