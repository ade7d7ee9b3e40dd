import { findCalledBlocks } from "./find-called-blocks.ts";
import { findBracedParts } from "./find-declared-blocks.ts";
import { findConditional, findSwallowed, findUncalled } from "./find-guarded-parts.ts";
import { findStubs } from "./find-stubs.ts";
import { assertionAliases } from "./assertion-aliases.ts";
import { C_COMMENTS, type Language, quoted } from "./language.ts";

const GOOD_END = String.raw`process\.(?:exit\(\s{0,9}0?\s{0,9}\)|exitCode\s{0,9}=\s{0,9}0\b)`;
const HOOK = String.raw`(?<![\w$.])(?:(?:after|before)(?:All|Each)?|test|it|process\.(?:on|once))\s{0,9}\((?:\s{0,9}"[^"\n]{0,120}",)?`;
/** In the open, or at the beginning of a test or a hook; a child process has a condition around it. */
const EXIT = new RegExp(
  String.raw`^${GOOD_END}|${HOOK}\s{0,9}(?:async\s{0,9})?\([\w\s,]{0,40}\)\s{0,9}=>\s{0,9}(?:\{\s{0,50})?${GOOD_END}`,
  "gm",
);

export const javascript: Language = {
  syntax: {
    ...C_COMMENTS,
    strings: [quoted('"'), quoted("'"), { ...quoted("`", true), interpolates: true }],
    hasRegexes: true,
  },
  findBlocks: (source) => [
    ...findCalledBlocks(source),
    ...findBracedParts(source, "dead", /\bif\s{0,9}\(\s{0,9}(?:false|0)\s{0,9}\)\s{0,9}\{/g),
    ...findBracedParts(
      source,
      "loop",
      /\b(?:for|while)\s{0,9}(?:await\s{0,9})?\(|\.(?:forEach|map)\s{0,9}\(/g,
    ),
    ...findSwallowed(source, IGNORING),
    ...findConditional(source),
    ...findUncalled(source),
  ],
  assertion:
    /(?<![\w$]|\bfunction )(?:expect(?:\.(?:soft|poll|element|fail|unreachable))?|assert(?:\.\w{1,40}){0,2}|(?:expect|assert|verify)[A-Z]\w{0,60}|(?<!\.)(?:strictEqual|deepStrictEqual|deepEqual|notDeepEqual|equal|notEqual|rejects|throws)|t\.(?:is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|throwsAsync|notThrows|notThrowsAsync|rejects|resolves|regex|notRegex|match|snapshot|equal|notEqual|same|ok|notOk|fail|strictEqual)|t\.assert\.\w{1,40})\s{0,9}(?:<[\w<>[\]., |]{0,80}>)?\(|\.should\b|(?<![\w$.])should\(/g,
  skipCall:
    /(?<![\w$])(?:this|t|ctx|context|testContext)\.(?:skip|todo)\(|(?<![\w$.])(?:test|it)\.(?:skip|fixme|fail)\((?!\s{0,50}["`])/g,
  table: /\.(?:each|for)\s{0,9}[(<"`]/g,
  whole:
    /\b(?:toEqual|toStrictEqual|toMatchObject)\(\s{0,50}[[{]|\b(?:toMatchInlineSnapshot|deepEqual|deepStrictEqual|eql|deep\.equal)\(/g,
  cases:
    /\.(?:each|for)\s{0,9}(?:<[\w<>[\]., |]{0,80}>)?\(\s{0,50}|\bfor\s{0,9}\(const [^\n;(){}=]{1,80}\bof\s{0,9}(?=\[)/g,
  exit: EXIT,
  findStubs,
  findAliases: assertionAliases,
};

const IGNORING =
  /\s{0,50}catch\s{0,9}(?:\([^()\n]{0,60}\)\s{0,9})?\{\s{0,200}(?:(?:return|console\.\w{1,20}\([^()\n]{0,100}\));?\s{0,200})?\}/y;
