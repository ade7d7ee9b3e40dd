import { useState } from "preact/hooks";
import type { OperatorAct } from "../../core/operator/operator-act.ts";
import { act } from "./api-client.ts";

/** What became of the last thing that a person did here. */
export interface Acting {
  readonly isBusy: boolean;
  readonly outcome: { readonly isGood: boolean; readonly text: string } | null;
  /** True when it is done. */
  run(what: OperatorAct): Promise<boolean>;
}

export function useAct(): Acting {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Acting["outcome"]>(null);
  const run = async (what: OperatorAct): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    const answer = await act(what);
    setBusy(false);
    if (answer.is === "problem") {
      const { message, hint } = answer.problem;
      setOutcome({ isGood: false, text: hint === null ? message : `${message} ${hint}` });
      return false;
    }
    const acted = answer.value;
    const isGood = acted.is === "done";
    setOutcome({ isGood, text: isGood ? acted.said : acted.why });
    return isGood;
  };
  return { isBusy, outcome, run };
}
