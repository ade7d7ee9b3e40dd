/** What a line may be wide; longer words stand alone. */
const WIDTH = 100;

/** Breaks a text into lines; those after the first begin below the first word after `lead`. */
export function wrap(lead: string, text: string, width = WIDTH): readonly string[] {
  const indent = " ".repeat(lead.length);
  const lines: string[] = [];
  let line = lead;
  let isFresh = true;
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    if (!isFresh && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
      isFresh = true;
    }
    line += isFresh ? word : ` ${word}`;
    isFresh = false;
  }
  return [...lines, line];
}
