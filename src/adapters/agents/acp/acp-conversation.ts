import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  numberOf,
  textOf,
} from "../../../core/streams/json-fields.ts";
import { modelOption } from "../../../core/streams/acp-stream.ts";
import type { Permissions } from "../../../core/settings.ts";
import type { McpServer, Write } from "../agent-adapter.ts";
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

const METHOD_NOT_FOUND = -32_601;
const AUTH_REQUIRED = -32_000;
const NOT_FOUND = -32_002;
const PROTOCOL_VERSION = 1;
/** Where an error is no failure of the agent: there is another way. */
const WISHES: readonly string[] = ["session/resume", "session/load", "session/set_mode", "_session/steering"];

export type AcpConversation = ReturnType<typeof startAcpConversation>;

/** One session of an agent, from the first word to the answer to our prompt. */
export function startAcpConversation(request: AcpConversationRequest, write: Write) {
  const peer = createJsonRpcPeer(write, (method, params) =>
    method === "session/request_permission"
      ? { result: answerPermission(params, request) }
      : { error: { code: METHOD_NOT_FOUND, message: `"${method}" is not available` } },
  );
  const turn = createAcpTurn(peer);
  const { model } = request;
  let offers = offersOf({});
  let sessionId: string | null = null;
  /** Why we cannot work with what the agent has just answered, though it is no error. */
  let misfit: string | null = null;

  const giveUp = (why: string | null = null): void => {
    misfit = why;
    turn.end();
  };
  const ask = (
    method: string,
    params: object,
    onResult: (result: Fields) => void,
    onRefusal: () => void = giveUp,
  ): void => {
    void peer.request(method, params, (result) => (result === null ? onRefusal() : onResult(result)));
  };
  const set = (id: string, [setting, ...others]: readonly Setting[]): void => {
    if (setting === undefined) return turn.begin(id, request.exactPrompt, offers.messages);
    const goOn = (): void => set(id, others);
    const params = { sessionId: id, ...setting.params };
    ask(setting.method, params, goOn, WISHES.includes(setting.method) ? goOn : giveUp);
  };
  const open = (resume: string | null): void => {
    const method = (resume === null ? null : offers.resumes) ?? "session/new";
    const begin = (session: Fields): void => {
      const offered = modelsOf(session);
      if (model !== null && !offered.includes(model)) return giveUp(lackOf(model, offered));
      sessionId = textOf(session["sessionId"]) ?? resume ?? "";
      set(sessionId, settingsFor(session, request, method === "session/load"));
    };
    const place = placeOf(request);
    if (method === "session/new") ask(method, place, begin);
    // Work in a fresh session is better than none.
    else ask(method, { sessionId: resume, ...place }, begin, () => open(null));
  };

  ask("initialize", introduction(request.version), (initialized) => {
    offers = offersOf(initialized);
    const version = numberOf(initialized["protocolVersion"]);
    if (version === null || version === PROTOCOL_VERSION) open(request.resume);
    else giveUp(`it speaks version ${version} of the protocol, not ${PROTOCOL_VERSION}`);
  });
  return {
    ...turn,
    /** Takes a message of the agent; answers what of it is to be reported. */
    receive(message: Fields): Fields | null {
      // Before the prompt it talks of other things: the history of a session, a mode that was set.
      const isAnswer = textOf(message["method"]) === null;
      const update = fieldsOf(fieldsOf(message["params"])["update"]);
      // What is said after the answer to the prompt is not part of it; what it has cost may come so late.
      const isLate = turn.isOver() && update["sessionUpdate"] !== "usage_update";
      const isEarly = !isAnswer && !turn.isBegun();
      const answered = peer.receive(message);
      const why = misfit;
      misfit = null;
      if (why !== null) return { error: { code: NOT_FOUND, message: why } };
      if (isEarly || isLate || (isAnswer && (answered === null || WISHES.includes(answered)))) return null;
      return completed(message, sessionId, sessionId === request.resume, offers.logins);
    },
  };
}

function lackOf(model: string, offered: readonly string[]): string {
  const others = offered.length === 0 ? "or any other" : `but: ${offered.join(", ")}`;
  return `it does not offer the model "${model}", ${others}`;
}

function introduction(version: string): object {
  return {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "ralph", title: "Ralph", version },
  };
}

/** Where a session works, and with which servers. */
function placeOf({ cwd, mcpServers, permissions }: AcpConversationRequest): object {
  return {
    cwd,
    mcpServers: mcpServers.map(({ env, ...server }) => ({
      ...server,
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
    })),
    ...(permissions === "read" && { _meta: { claudeCode: { options: { settings: READERS_SETTINGS } } } }),
  };
}

/** The work on our prompt, and what is said to the agent meanwhile. */
function createAcpTurn(peer: ReturnType<typeof createJsonRpcPeer>) {
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
    begin(sessionId: string, text: string, messages: AgentOffers["messages"]): void {
      recipient = { sessionId, messages };
      void prompt(sessionId, text);
      settle(true);
    },
    /** Whether the message has come into the turn; before it begins, the message waits. */
    tell: async (text: string): Promise<boolean> => {
      if (recipient === null && !isOver) await new Promise((resolve) => waiting.add(resolve));
      if (recipient === null || isOver || recipient.messages === null) return false;
      const { sessionId, messages } = recipient;
      return messages === "steering" ? steer(sessionId, text) : prompt(sessionId, text);
    },
    /** Asks the agent to end it. */
    cancel: async () =>
      recipient !== null && !isOver && peer.notify("session/cancel", { sessionId: recipient.sessionId }),
    isBegun: () => recipient !== null,
    /** All that was asked is answered, or will not be. */
    isOver: () => isOver,
    /** Nothing more will come. */
    end,
  };
}

/** A turn that has ended meanwhile is not to begin again with the message. */
const IF_RUNNING = { steering: { idleBehavior: "promptRequired" } };

function blocksOf(text: string): readonly object[] {
  return [{ type: "text", text }];
}

/** A message of the agent with what it does not say itself. */
function completed(
  message: Fields,
  sessionId: string | null,
  isResumed: boolean,
  logins: readonly string[],
): Fields {
  const { error, result } = message;
  if (isFields(error)) {
    if (error["code"] !== AUTH_REQUIRED || logins.length === 0) return message;
    const said = textOf(error["message"]) ?? "Authentication required";
    return { ...message, error: { ...error, message: `${said} (it offers: ${logins.join(", ")})` } };
  }
  if (sessionId === null) return message;
  // An answer about a session that we named does not name it.
  if (result !== undefined) return { ...message, result: { ...fieldsOf(result), sessionId } };
  return isResumed ? withoutCost(message) : message;
}

/** The cost of a session counts from its beginning, and nobody says how much of it is old. */
function withoutCost(message: Fields): Fields {
  const params = fieldsOf(message["params"]);
  const update = fieldsOf(params["update"]);
  if (update["sessionUpdate"] !== "usage_update") return message;
  return { ...message, params: { ...params, update: { ...update, cost: null } } };
}

const READS: readonly unknown[] = ["read", "search", "think"];
/** The kinds of calls that are allowed, where not all are. */
const PERMITTED: Readonly<Record<Exclude<Permissions, "full">, readonly unknown[]>> = {
  read: READS,
  // What changing files needs. Nobody watches, so commands, the network and tools of others are not part of it.
  edits: [...READS, "edit", "delete", "move"],
  // Its own settings have decided what it may do; what it asks for nevertheless needs a person.
  own: [],
};

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
  if (permissions === "full" || mcpServers.some(({ name }) => isToolOf(name, call))) return true;
  return PERMITTED[permissions].includes(call["kind"]);
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
  const isOption = valuesOf(option).includes(model);
  const current = isOption ? option?.["currentValue"] : fieldsOf(session["models"])["currentModelId"];
  if (current === model) return null;
  return isOption
    ? { method: "session/set_config_option", params: { configId: option?.["id"], value: model } }
    : { method: "session/set_model", params: { modelId: model } };
}

function modelsOf(session: Fields): readonly string[] {
  const listed = listOf(fieldsOf(session["models"])["availableModels"]).map(fieldsOf);
  return [...valuesOf(modelOption(session)), ...listed.flatMap(({ modelId }) => textOf(modelId) ?? [])];
}

/** Options may stand in groups. */
function valuesOf(option: Fields | undefined): readonly string[] {
  const all = listOf(option?.["options"]).map(fieldsOf);
  return all.flatMap((one) => ("options" in one ? valuesOf(one) : (textOf(one["value"]) ?? [])));
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
  // Loading tells the whole history again, resuming does not.
  const mayResume = isFields(fieldsOf(capabilities["sessionCapabilities"])["resume"]);
  const mayLoad = capabilities["loadSession"] === true;
  return {
    resumes: mayResume ? "session/resume" : mayLoad ? "session/load" : null,
    messages: steering["supported"] === true ? "steering" : JOINING.includes(name) ? "prompt" : null,
    logins: logins.flatMap((login) => textOf(login["name"]) ?? textOf(login["id"]) ?? []),
  };
}

type Reply = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** Called with the result; null: the other side has refused. */
type OnAnswer = (result: Fields | null) => void;

/** One side of JSON-RPC, a message a line. Everything happens within the call, nothing later. */
function createJsonRpcPeer(write: Write, reply: (method: string, params: Fields) => Reply) {
  const open = new Map<number, { readonly method: string; readonly onAnswer: OnAnswer }>();
  let last = 0;
  const send = (message: object): Promise<boolean> =>
    write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    /** Answers at once whether it could be written; `onAnswer` is called when the answer is there, if ever. */
    request(method: string, params: object, onAnswer: OnAnswer): Promise<boolean> {
      const id = ++last;
      open.set(id, { method, onAnswer });
      return send({ id, method, params });
    },
    notify: (method: string, params: object) => send({ method, params }),
    /** Takes a message of the other side, an answer or a request to reply to; of an answer it says to which method. */
    receive(message: Fields): string | null {
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
