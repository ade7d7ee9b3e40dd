/**
 * Whether a path is meant by a pattern: `*` and `?` stay within a folder, `**` does not, `[a-z]` and `{a,b}` as in
 * a shell. A pattern that names a folder means everything below it; one without a slash means a name anywhere.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/^\.?\//, "").replace(/\/+$/, "");
  if (plain === "") return () => false;
  const anywhere = pattern.startsWith("/") || plain.includes("/") ? "" : "(?:.*/)?";
  const test = new RegExp(`^${anywhere}${source(plain)}(?:/.*)?$`, "su");
  return (path) => test.test(path);
}

/** The pattern that means exactly this path. */
export function literalGlob(path: string): string {
  return `/${path.replaceAll(/[*?[{]/g, "[$&]")}`;
}

const TOKEN = /\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|\{[^{}]*\}|[^]/gu;

function source(pattern: string): string {
  return pattern.replaceAll(TOKEN, (token) => {
    if (token === "**/") return "(?:.*/)?";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.length > 2 && token.startsWith("{"))
      return `(?:${token.slice(1, -1).split(",").map(source).join("|")})`;
    if (token.length > 2 && token.startsWith("[")) return characterClass(token);
    return literal(token);
  });
}

function characterClass(token: string): string {
  const isNegated = token.startsWith("[!");
  const characters = token.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\^[\]&]/g, String.raw`\$&`);
  const safe = /^(?:[^-]-[^-]|[^-])+$/u.test(characters)
    ? characters
    : characters.replaceAll("-", String.raw`\-`);
  return isNegated ? `[^/${safe}]` : `[${safe}]`;
}

/** An expression for exactly this text. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
