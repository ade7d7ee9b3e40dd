const ESCAPE = new RegExp(String.raw`${String.fromCodePoint(27)}\[([\d;]*)m`, "g");
/** As most terminals have them on a dark ground. */
const COLOURS = ["#0c0c0c", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d4d4d4"];
const BRIGHT = ["#7f848e", "#ff7b86", "#b5e890", "#ffd68a", "#7cc0ff", "#e29bff", "#7fdfe8", "#ffffff"];

interface Look {
  readonly colour: string | null;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isInverse: boolean;
}

const PLAIN: Look = { colour: null, isBold: false, isDim: false, isInverse: false };

/** What a terminal shows, as a page. */
export function terminalPage(screen: string): string {
  const pieces: string[] = [];
  let look = PLAIN;
  let at = 0;
  for (const match of screen.matchAll(ESCAPE)) {
    pieces.push(shown(screen.slice(at, match.index), look));
    look = lookAfter(look, match[1] ?? "");
    at = match.index + match[0].length;
  }
  pieces.push(shown(screen.slice(at), look));
  const style =
    "margin:0;display:inline-block;padding:16px 20px;background:#16181d;color:#d4d4d4;font:14px/1.35 'DejaVu Sans Mono',monospace";
  return `<!doctype html><body style="margin:0;background:#16181d"><pre style="${style}">${pieces.join("").trimEnd()}</pre>`;
}

function shown(text: string, { colour, isBold, isDim, isInverse }: Look): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const styles = [
    isInverse ? `background:${colour ?? "#d4d4d4"};color:#16181d` : colour === null ? "" : `color:${colour}`,
    isBold ? "font-weight:bold" : "",
    isDim ? "opacity:.65" : "",
  ].filter(Boolean);
  return styles.length === 0 || text === "" ? escaped : `<span style="${styles.join(";")}">${escaped}</span>`;
}

function lookAfter(before: Look, codes: string): Look {
  let look = before;
  const numbers = codes.split(";").map(Number);
  for (const [at, code] of numbers.entries()) {
    if (code === 38 || code === 48) return withExtended(look, numbers.slice(at));
    look = withCode(look, code);
  }
  return look;
}

function withCode(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isDim: true };
  if (code === 22) return { ...look, isBold: false, isDim: false };
  if (code === 7 || code === 27) return { ...look, isInverse: code === 7 };
  if (code === 39) return { ...look, colour: null };
  if (code >= 30 && code <= 37) return { ...look, colour: COLOURS[code - 30] ?? null };
  return code >= 90 && code <= 97 ? { ...look, colour: BRIGHT[code - 90] ?? null } : look;
}

function withExtended(look: Look, [kind, form, ...rest]: readonly number[]): Look {
  if (kind !== 38) return look;
  if (form === 2) return { ...look, colour: `rgb(${rest.slice(0, 3).join(" ")})` };
  const index = rest[0] ?? 0;
  return { ...look, colour: index < 8 ? (COLOURS[index] ?? null) : (BRIGHT[index - 8] ?? "#d4d4d4") };
}
