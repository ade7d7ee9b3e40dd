/** What an agent takes from its prompt about the iteration before. It knows nothing else of the loop. */
export interface Heard {
  readonly wroteNothing: boolean;
  readonly gateFailed: boolean;
  readonly ranOutOfTime: boolean;
  readonly didNotClaim: boolean;
  /** The correction comes before everything else. */
  readonly isStrong: boolean;
}

const HEADING = "## Previous Iteration Feedback";

export function hearPrompt(prompt: string): Heard {
  const from = prompt.indexOf(HEADING);
  const next = prompt.indexOf("\n## ", from + 1);
  const feedback = from === -1 ? "" : prompt.slice(from, next === -1 ? undefined : next);
  return {
    wroteNothing: /NO FILES|no file has changed|you changed nothing|not among the changes/.test(feedback),
    gateFailed: /gate "[^"]*" failed/.test(feedback),
    ranOutOfTime: feedback.includes("was ended after"),
    didNotClaim: feedback.includes("you did not say that the task is done"),
    isStrong: from === 0,
  };
}
