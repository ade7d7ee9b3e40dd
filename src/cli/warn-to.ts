import type { CliContext } from "./commands.ts";

/** Tells the person in front of the program what goes wrong without ending it. */
export function warnTo({ stderr }: CliContext): (text: string) => void {
  return (text) => void stderr.write(`ralph: ${text}\n`);
}
