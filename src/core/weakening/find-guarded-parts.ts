import type { Block } from "./block.ts";
import { matchAt, skipSpace, type Source } from "./source.ts";

/** The parts behind `try` whose failures a `catch` swallows. The handler is sticky and stands behind the part's brace. */
export function findSwallowed({ code, closeOf }: Source, handler: RegExp): Block[] {
  return Array.from(code.matchAll(/\btry\s{0,9}\{/g)).flatMap((match) => {
    const close = closeOf[match.index + match[0].length - 1] ?? -1;
    if (close === -1 || matchAt(handler, code, close + 1) === null) return [];
    return [part("swallowed", match.index, close + 1)];
  });
}

const ON_ENVIRONMENT =
  /\bif\s{0,9}\((?=[^\n{};]{0,80}\b(?:process|Deno|Bun|import\.meta)\.env\b)|\bprocess\.env\.\w{1,60}\s{0,9}&&(?=\s{0,50}\w)/g;

/** What is there only if the environment says so. */
export function findConditional(source: Source): Block[] {
  return Array.from(source.code.matchAll(ON_ENVIRONMENT)).flatMap((match) => {
    const last = match.index + match[0].length - 1;
    const behind = match[0].endsWith("(") ? (source.closeOf[last] ?? -1) + 1 : last + 1;
    if (behind === 0) return [];
    const block = part("suite", match.index, endOfStatement(source, behind));
    return [{ ...block, skip: "conditional" as const }];
  });
}

const CALLED_IN_STATEMENT = /\s{0,50}(?:await\s{1,9})?[\w$.]{1,80}\s{0,9}(?=\()/y;

/** The end of a block, or of the call that stands for one. */
export function endOfStatement({ code, closeOf }: Source, from: number): number {
  const behind = skipSpace(code, from);
  if (code.charAt(behind) === "{") return Math.max(from, (closeOf[behind] ?? -1) + 1);
  let at = from;
  // A call may follow a call: `test.each(cases)("title", …)`.
  for (let calls = 0; calls < 3; calls += 1) {
    const call = calls === 0 ? (matchAt(CALLED_IN_STATEMENT, code, at)?.[0].length ?? -1) : 0;
    const close = call !== -1 && code.charAt(at + call) === "(" ? (closeOf[at + call] ?? -1) : -1;
    if (close === -1) break;
    at = close + 1;
  }
  return at;
}

const FUNCTION =
  /(?<![,(=:?&|+[!>\w$]\s{0,50})(?<!\b(?:export|return|default|await|new)\s{1,9})(?:(?:async\s{1,9})?function\s{1,9}([\w$]{1,80})\s{0,9}\(|(?:const|let|var)\s{1,9}([\w$]{1,80})\s{0,9}=\s{0,9}(?:async\s{0,9})?(?:function\s{0,9}\(|\((?=[^()\n]{0,100}\)\s{0,9}=>)))/g;

/** Functions whose name stands nowhere else: what they register is never registered. */
export function findUncalled(source: Source): Block[] {
  const { code, closeOf } = source;
  const found = Array.from(code.matchAll(FUNCTION));
  if (found.length === 0) return [];
  const uses = new Map<string, number>();
  for (const [word] of code.matchAll(/[\w$]{1,200}/g)) uses.set(word, (uses.get(word) ?? 0) + 1);
  return found.flatMap((match) => {
    if ((uses.get(match[1] ?? match[2] ?? "") ?? 0) !== 1) return [];
    const close = closeOf[match.index + match[0].length - 1] ?? -1;
    const open = close === -1 ? -1 : code.indexOf("{", close);
    const isBody = open !== -1 && open - close < SIGNATURE_LENGTH_MAX;
    const end = isBody ? (closeOf[open] ?? -1) + 1 : 0;
    return end === 0 ? [] : [{ ...part("suite", match.index, end), skip: "skipped" as const }];
  });
}

const SIGNATURE_LENGTH_MAX = 100;

function part(kind: Block["kind"], start: number, end: number): Block {
  return { kind, name: "", start, end, body: null, skip: null, isFocused: false };
}
