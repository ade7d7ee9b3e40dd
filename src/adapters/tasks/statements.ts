/** The lines of a text without bullets and boxes in front; empty ones are left out. */
export function statementsIn(text: string): readonly string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/, "").trim())
    .filter((line) => line !== "");
}
