/** What one iteration of an open-ended task says about its end. */
export interface ExitSignal {
  readonly iteration: number;
  /** A claim that was accepted, or words sure enough of it with a change and green gates. */
  readonly done: boolean;
  /** It only ran tests. */
  readonly testOnly: boolean;
  /** Words that speak of completion, whatever the evidence says. */
  readonly indicator: boolean;
}

const WINDOW = 5;
const DONE_IN_A_ROW = 2;
const TEST_ONLY_IN_A_ROW = 3;

/** Words this sure count as a signal when evidence stands behind them. */
export const CONFIDENT = 75;

export function withSignal(window: readonly ExitSignal[], signal: ExitSignal): readonly ExitSignal[] {
  return [...window, signal].slice(-WINDOW);
}

/** How the rolling window ends an open-ended task: it is complete, or it goes round in circles. */
export function exitRule(window: readonly ExitSignal[]): "complete" | "only-tests" | null {
  if (lastAll(window, DONE_IN_A_ROW, (signal) => signal.done)) return "complete";
  return lastAll(window, TEST_ONLY_IN_A_ROW, (signal) => signal.testOnly) ? "only-tests" : null;
}

function lastAll(
  window: readonly ExitSignal[],
  count: number,
  holds: (signal: ExitSignal) => boolean,
): boolean {
  return window.length >= count && window.slice(-count).every(holds);
}
