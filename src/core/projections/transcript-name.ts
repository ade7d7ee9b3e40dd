/** Where the transcript of an iteration lies, relative to `.ralph/`. */
export function transcriptName(iteration: number): string {
  return `logs/iteration-${String(iteration).padStart(3, "0")}.log`;
}
