const BODY_MAX = 20_000;

/**
 * A text of an issue as the page shows it. Comments in the text and signs that are not drawn are left out: whoever set
 * the label did not see them.
 */
export function shownText(text: string): string {
  const shown = withoutComments(text.slice(0, BODY_MAX * 4))
    .replaceAll(/[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/gu, "")
    .replaceAll("\r\n", "\n")
    .trim();
  return shown.length > BODY_MAX ? `${shown.slice(0, BODY_MAX)}…` : shown;
}

/** One that is never closed hides all that follows, as it does on the page. */
function withoutComments(text: string): string {
  let shown = "";
  for (let at = 0; ;) {
    const start = text.indexOf("<!--", at);
    if (start === -1) return shown + text.slice(at);
    shown += text.slice(at, start);
    const end = text.indexOf("-->", start + 4);
    if (end === -1) return shown;
    at = end + 3;
  }
}

/** The issues that must be closed first: "depends on #12 and #13", "blocked by #7". */
export function dependenciesIn(text: string): readonly number[] {
  const numbers = [
    ...text.matchAll(/\b(?:depends[ -]on|blocked[ -]by|requires)\b:?((?:[ \t,]|and|#\d{1,9})*)/gi),
  ]
    .flatMap(([, list = ""]) => [...list.matchAll(/#(\d+)/g)])
    .map(([, number]) => Number(number));
  return [...new Set(numbers)].slice(0, DEPENDENCIES_MAX);
}

const DEPENDENCIES_MAX = 50;
