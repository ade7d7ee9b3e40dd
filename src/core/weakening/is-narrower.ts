/** Whether these patterns select fewer files or names than those before; what is not sure does not. */
export function isNarrower(before: readonly string[], after: readonly string[]): boolean {
  const [old, now] = [new Set(before.slice(0, PATTERNS_MAX)), new Set(after.slice(0, PATTERNS_MAX))];
  const removed = [...old].filter((value) => !now.has(value));
  const added = [...now].filter((value) => !old.has(value));
  if (removed.length === 0) return false;
  if (removed.length > added.length && !added.some((value) => value.includes("{"))) return true;
  const lostWildcards =
    removed.every((value) => value.includes("*")) && added.every((value) => !/[*(]/.test(value));
  return lostWildcards || added.every((value) => removed.some((one) => isBelow(value, one)));
}

const PATTERNS_MAX = 100;

/** `tests/unit` in `tests`, `src/core/*.ts` in `src/*.ts`; that only tests are meant is said without harm. */
function isBelow(pattern: string, old: string): boolean {
  if (pattern.startsWith(`${old.replace(/\/$/, "")}/`)) return true;
  const isOnlyTests = pattern.replace(/[._](?:test|spec)(?=\.[\w{},]{1,20}$)/, "") === old;
  const isDeeper = pattern.includes("**") && !old.includes("**");
  return old.includes("*") && !isOnlyTests && !isDeeper && matches(old, pattern) && !matches(pattern, old);
}

const LENGTH_MAX = 300;

/** Whether a pattern with `*` covers a text; in the time of their product. */
function matches(pattern: string, text: string): boolean {
  if (pattern.length > LENGTH_MAX || text.length > LENGTH_MAX) return false;
  const parts = pattern.split(/\*+/);
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** pytest's own names, which a setting takes the place of. */
const PYTEST_DEFAULT = /^\*?_?\*?(?:tests?|Tests?)?_?\*?(?:\.py)?$/;

/** Whether a new setting of pytest leaves out what is collected without it. */
export function leavesOutDefault(setting: string, values: readonly string[]): boolean {
  const isKnown = (value: string): boolean => PYTEST_DEFAULT.test(value) || value.includes("/");
  return /python_(?:files|functions)$/.test(setting) && values.length > 0 && !values.some(isKnown);
}
