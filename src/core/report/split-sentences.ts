/** Lines of prose as paragraphs: a line that only continues the one before it is joined to it. */
export function paragraphsOf(lines: readonly string[]): readonly string[] {
  const paragraphs: string[][] = [];
  let previous = "";
  for (const raw of lines) {
    const line = raw.trim().replaceAll(/\s+/g, " ");
    const last = paragraphs.at(-1);
    if (last !== undefined && previous !== "" && continues(line, previous)) last.push(line);
    else if (line !== "") paragraphs.push([line]);
    previous = line;
  }
  return paragraphs.map((parts) => parts.join(" "));
}

export function sentencesOf(lines: readonly string[]): readonly string[] {
  return paragraphsOf(lines)
    .flatMap((paragraph) => paragraph.split(SENTENCE_END))
    .filter((sentence) => /[A-Za-z]{2}/.test(sentence));
}

/** Logs have unrelated lines below each other, so only what looks like a broken line counts as one. */
function continues(line: string, previous: string): boolean {
  return /^[\p{Ll}`"'(]/u.test(line) && !/[.!?:;|]$/.test(previous) && !/^(?:#|```)/.test(previous);
}

/** The mark stays with its sentence; a dot inside a name or a number is none. */
const SENTENCE_END = /(?<=[.!?…]["')*_]?) /;
