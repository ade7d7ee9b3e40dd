import { fieldsOf, listOf, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Permissions } from "../../../core/settings.ts";

/** What is asked may be done by who may only change files. Nobody watches, so commands and the network are not for it. */
const EDITS: readonly unknown[] = ["read", "search", "think", "edit", "delete", "move"];

/**
 * Answers an agent that asks whether it may use a tool. Only for this once: some agents write a lasting permission
 * into the repository.
 */
export function answerPermission(params: Fields, permissions: Permissions): object {
  const options = listOf(params["options"]).map(fieldsOf);
  const isAllowed = isPermitted(fieldsOf(params["toolCall"]), permissions);
  const wishes = isAllowed ? ["allow_once", "reject_once"] : ["reject_once", "reject_always"];
  for (const wish of wishes) {
    const optionId = textOf(options.find(({ kind }) => kind === wish)?.["optionId"]);
    if (optionId !== null) return { outcome: { outcome: "selected", optionId } };
  }
  return { outcome: { outcome: "cancelled" } };
}

function isPermitted({ kind }: Fields, permissions: Permissions): boolean {
  switch (permissions) {
    case "full":
      return true;
    case "edits":
      return EDITS.includes(kind);
    // Its own settings have decided what it may do; what it asks for nevertheless needs a person.
    case "own":
      return false;
  }
}
