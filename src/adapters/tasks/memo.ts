/** The function, which remembers its last answer: asked about the same again it does no work. */
export function createMemo<Input, Output>(
  make: (input: Input) => Output,
  isSame: (a: Input, b: Input) => boolean = Object.is,
): (input: Input) => Output {
  let last: { readonly input: Input; readonly output: Output } | null = null;
  return (input) => {
    if (last !== null && isSame(last.input, input)) return last.output;
    last = { input, output: make(input) };
    return last.output;
  };
}

export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.equals(b);
}
