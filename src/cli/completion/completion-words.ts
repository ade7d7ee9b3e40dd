import type { CommandShape } from "../command-shapes.ts";

/** All that can follow a command. */
export function wordsAfter({ commands, arguments: all, options }: CommandShape): readonly string[] {
  const shorts = options.flatMap(({ short }) => (short === null ? [] : [short]));
  return [
    ...commands,
    ...all.flatMap(({ choices }) => choices),
    ...options.map(({ long }) => long),
    ...shorts,
  ];
}

/** Options after which comes a value, each as `command|option`. */
export function takingValue(shapes: readonly CommandShape[]): readonly string[] {
  return shapes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ long, short }) => (short === null ? [long] : [long, short]))
      .map((name) => `${path}|${name}`),
  );
}

/** Options that take one of a few values. */
export function valueChoices(
  shapes: readonly CommandShape[],
): readonly { readonly option: string; readonly choices: string }[] {
  return shapes.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => ({ option: `${path}|${long}`, choices: choices.join(" ") })),
  );
}
