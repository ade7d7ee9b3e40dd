/** A heading's level and words, if the line is one. */
export interface Heading {
  readonly level: number;
  readonly text: string;
}

/** The text is bytes still. */
export function readHeading(content: string): Heading | null {
  const level = /^#{1,6}(?=[ \t]|$)/.exec(content)?.[0].length;
  if (level === undefined) return null;
  return { level, text: content.slice(level) };
}

/** Whether what stands below such a heading may stay undone: "Optional", "Future work", "Nice-to-have: …". */
export function isOptionalHeading(text: string): boolean {
  const words = text
    .slice(0, LENGTH_MAX)
    .toLowerCase()
    .replaceAll(/[*_`#]/g, "")
    .trim();
  if (/\((optional|later|future|stretch|nice[ -]to[ -]have)\)$/.test(words)) return true;
  const plain = words.replace(/^[^\p{L}]+/u, "").replace(/^(phase|part|step|milestone) [\w.]+[^\p{L}]+/u, "");
  return OPTIONAL.test(plain);
}

const LENGTH_MAX = 200;

/** "Optional chaining" is a feature, so only certain words may follow. */
const OPTIONAL = new RegExp(
  "^(optional|future|nice[ -]to[ -]haves?|later|backlog|stretch)" +
    "( (work|items?|tasks?|goals?|ideas?|features?|improvements?|enhancements?|extras?|plans?|steps?|things|stuff|todos?|additions?|scope|on))?" +
    "([^\\p{L}\\p{N}]*$|\\s*[:(/,&]|\\s+[–—-]\\s|\\s+(and|or)\\s)",
  "u",
);
