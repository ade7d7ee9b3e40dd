import { fieldsOf, listOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";

/** Something to say to the agent before the prompt. */
export interface Setting {
  readonly method: string;
  readonly params: object;
}

/** How agents call the mode in which they ask for nothing. */
const FULL_MODES = ["bypassPermissions", "agent-full-access", "yolo"];

/**
 * What to set in a session. One that was loaded is set in any case: some tell its history only after they have
 * answered, and before they answer the next request.
 */
export function settingsFor(session: Fields, wishes: Wishes, isLoaded: boolean): readonly Setting[] {
  const mode = wishes.permissions === "full" ? settingOfFullMode(session) : null;
  const model = wishes.model === null ? null : settingOfModel(session, wishes.model);
  const same = isLoaded ? settingOfMode(fieldsOf(session["modes"])["currentModeId"]) : null;
  return [mode ?? same, model].filter((setting) => setting !== null);
}

export interface Wishes {
  readonly permissions: Permissions;
  readonly model: string | null;
}

/** Sets the session to ask for nothing, if it has such a mode and is not in it. */
function settingOfFullMode(session: Fields): Setting | null {
  const modes = fieldsOf(session["modes"]);
  const offered = listOf(modes["availableModes"]).map((mode) => fieldsOf(mode)["id"]);
  const modeId = FULL_MODES.find((mode) => offered.includes(mode));
  return modes["currentModeId"] === modeId ? null : settingOfMode(modeId);
}

function settingOfMode(modeId: unknown): Setting | null {
  return typeof modeId === "string" ? { method: "session/set_mode", params: { modeId } } : null;
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

/** The models that a session offers. */
export function modelsOf(session: Fields): readonly string[] {
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
