import { fieldsOf, listOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";

/** Something to say to the agent before the prompt. */
export interface Setting {
  readonly method: string;
  readonly params: object;
}

/** How agents call the mode in which they ask for nothing. */
const FULL_MODES = ["bypassPermissions", "agent-full-access", "yolo"];

/** Sets the session to ask for nothing, if it has such a mode and is not in it. */
export function settingOfFullMode(session: Fields): Setting | null {
  const modes = fieldsOf(session["modes"]);
  const offered = listOf(modes["availableModes"]).map((mode) => fieldsOf(mode)["id"]);
  const modeId = FULL_MODES.find((mode) => offered.includes(mode));
  return modeId === undefined || modes["currentModeId"] === modeId
    ? null
    : { method: "session/set_mode", params: { modeId } };
}

/** Sets the session to a model, if it offers that one and does not have it. */
export function settingOfModel(session: Fields, model: string): Setting | null {
  const option = listOf(session["configOptions"])
    .map(fieldsOf)
    .find(({ category, id }) => category === "model" || id === "model");
  if (option !== undefined && valuesOf(option).includes(model))
    return option["currentValue"] === model
      ? null
      : { method: "session/set_config_option", params: { configId: option["id"], value: model } };
  const models = fieldsOf(session["models"]);
  const offered = listOf(models["availableModels"]).map((one) => fieldsOf(one)["modelId"]);
  return !offered.includes(model) || models["currentModelId"] === model
    ? null
    : { method: "session/set_model", params: { modelId: model } };
}

/** Options may stand in groups. */
function valuesOf(option: Fields): readonly (string | null)[] {
  return listOf(option["options"])
    .map(fieldsOf)
    .flatMap((one) => ("options" in one ? valuesOf(one) : [textOf(one["value"])]));
}

export interface AgentOffers {
  /** By which method an earlier session is gone on with; null when it cannot be. */
  readonly resumes: "session/resume" | "session/load" | null;
  /** How a message reaches a running turn: by an extension, or as a second prompt; null when it cannot. */
  readonly messages: "steering" | "prompt" | null;
  /** The names of the ways to log in. */
  readonly logins: readonly string[];
}

/**
 * A second prompt joins the running turn only with these. With others it cancels the turn, or waits for its end.
 */
const JOINING = /^(?:OpenCode|@(?:agentclientprotocol|zed-industries)\/claude-(?:agent|code)-acp)$/i;

/** What the agent says it can do. */
export function offersOf(initialized: Fields): AgentOffers {
  const capabilities = fieldsOf(initialized["agentCapabilities"]);
  const steering = fieldsOf(fieldsOf(initialized["_meta"])["steering"]);
  const name = textOf(fieldsOf(initialized["agentInfo"])["name"]) ?? "";
  const logins = listOf(initialized["authMethods"]).map(fieldsOf);
  return {
    resumes: resumesBy(capabilities),
    messages: steering["supported"] === true ? "steering" : JOINING.test(name) ? "prompt" : null,
    logins: logins
      .map((login) => textOf(login["name"]) ?? textOf(login["id"]))
      .filter((login) => login !== null),
  };
}

/** Loading tells the whole history again, resuming does not. */
function resumesBy(capabilities: Fields): AgentOffers["resumes"] {
  if ("resume" in fieldsOf(capabilities["sessionCapabilities"])) return "session/resume";
  return capabilities["loadSession"] === true ? "session/load" : null;
}
