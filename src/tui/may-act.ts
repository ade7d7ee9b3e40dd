import { planAct, type OperatorAct } from "../core/operator/operator-act.ts";
import type { Model } from "./model.ts";

/** Why a person cannot do this now; null: they can. */
export function refusalOf({ overview, state }: Model, act: OperatorAct): string | null {
  if (!overview.mayAct) return "this monitor is there to look only";
  const planned = planAct(state, act, overview.isDriven, "");
  return planned.is === "refused" ? planned.why : null;
}
