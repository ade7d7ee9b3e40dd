import type { OpenIteration, State } from "../core/loop/state.ts";

/** The open iteration an effect is about; it is there, or the effect would not have been asked for. */
export function openIteration(state: State, number: number): OpenIteration {
  const open = state.iterations.find((iteration) => iteration.number === number);
  if (open === undefined) throw new Error(`iteration ${number} is not open`);
  return open;
}
