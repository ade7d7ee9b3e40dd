import { fieldsOf, isFields, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import { otherVersion, PROTOCOL_VERSION } from "./acp-offers.ts";
import { modelsOf } from "./acp-settings.ts";

/** What we know of a message that it does not say itself. */
export interface Circumstances {
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

/** A message of the agent as the report is to read it. */
export function reportOf(message: Fields, known: Circumstances): Fields {
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
