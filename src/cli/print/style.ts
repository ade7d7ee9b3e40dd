import colors from "yoctocolors";

/** The few looks we use; without colour they are the text itself. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly ask: (text: string) => string;
}

export const PLAIN: Style = { bold: same, dim: same, good: same, bad: same, ask: same };

const COLOURED: Style = {
  bold: colors.bold,
  dim: colors.dim,
  good: colors.green,
  bad: colors.red,
  ask: colors.yellow,
};

/** Colour only on a terminal, and never against the wish of `NO_COLOR`. */
export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  return stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? COLOURED : PLAIN;
}

function same(text: string): string {
  return text;
}
