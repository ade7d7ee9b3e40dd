import {
  fieldsOf,
  isFields,
  listOf,
  numberOf,
  textOf,
  type Fields,
} from "../../../core/report/streams/json-fields.ts";

export const PROTOCOL_VERSION = 1;

/** The version of the protocol that the agent insists on, when it is another one. */
export function otherVersion(initialized: Fields): number | null {
  const version = numberOf(initialized["protocolVersion"]);
  return version === PROTOCOL_VERSION ? null : version;
}

export interface AgentOffers {
  /** By which method an earlier session is gone on with; null when it cannot be. */
  readonly resumes: "session/resume" | "session/load" | null;
  /** How a message reaches a running turn: by an extension, or as a second prompt; null when it cannot. */
  readonly messages: "steering" | "prompt" | null;
  /** The names of the ways to log in. */
  readonly logins: readonly string[];
}

/** A second prompt joins the running turn only with these. With others it cancels the turn, or waits for its end. */
const JOINING: readonly unknown[] = ["OpenCode", "@agentclientprotocol/claude-agent-acp"];

/** What the agent says it can do. */
export function offersOf(initialized: Fields): AgentOffers {
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
