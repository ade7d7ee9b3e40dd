import { fieldsOf, isFields, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";

/** What we know of a message that it does not say itself. */
export interface Circumstances {
  /** The method of ours that it answers. */
  readonly answered: string | null;
  readonly sessionId: string | null;
  readonly isResumed: boolean;
  /** The names of the ways to log in. */
  readonly logins: readonly string[];
}

const AUTH_REQUIRED = -32_000;
const NOT_FOUND = -32_002;

/** A message of the agent as the report is to read it. */
export function reportOf(message: Fields, known: Circumstances): Fields {
  const { error, result } = message;
  if (isFields(error)) return { ...message, error: errorOf(error, known) };
  // An answer about a session that we named does not name it.
  if (result !== undefined && known.sessionId !== null)
    return { ...message, result: { ...fieldsOf(result), sessionId: known.sessionId } };
  return known.isResumed ? withoutCost(message) : message;
}

function errorOf(error: Fields, { answered, logins }: Circumstances): Fields {
  if (error["code"] === AUTH_REQUIRED) {
    const said = textOf(error["message"]) ?? "Authentication required";
    return logins.length === 0 ? error : { ...error, message: `${said} (it offers: ${logins.join(", ")})` };
  }
  // In whatever words: the session is not there any more.
  return answered === "session/load" || answered === "session/resume" ? { ...error, code: NOT_FOUND } : error;
}

/** The cost of a session counts from its beginning, and nobody says how much of it is old. */
function withoutCost(message: Fields): Fields {
  const params = fieldsOf(message["params"]);
  const update = fieldsOf(params["update"]);
  if (update["sessionUpdate"] !== "usage_update") return message;
  return { ...message, params: { ...params, update: { ...update, cost: null } } };
}
