import { findCalledBlocks } from "./find-called-blocks.ts";
import { findBracedParts } from "./find-declared-blocks.ts";
import { C_COMMENTS, type Language, quoted } from "./language.ts";

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
  ],
  assertion:
    /(?<![\w$]|\bfunction )(?:expect(?:\.(?:soft|poll|element|fail|unreachable))?|assert(?:\.\w{1,40}){0,2}|(?:expect|assert|verify)[A-Z]\w{0,60}|(?<!\.)(?:strictEqual|deepStrictEqual|deepEqual|notDeepEqual|equal|notEqual|rejects|throws)|t\.(?:is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|throwsAsync|notThrows|notThrowsAsync|rejects|resolves|regex|notRegex|match|snapshot|equal|notEqual|same|ok|notOk|fail|strictEqual)|t\.assert\.\w{1,40})\s{0,9}(?:<[\w<>[\]., |]{0,80}>)?\(|\.should\b|(?<![\w$.])should\(/g,
  skipCall:
    /(?<![\w$])(?:this|t|ctx|context|testContext)\.(?:skip|todo)\(|(?<![\w$.])(?:test|it)\.(?:skip|fixme|fail)\((?!\s{0,50}["`])/g,
  table: /\.(?:each|for)\s{0,9}[(<"`]/g,
  whole:
    /\b(?:toEqual|toStrictEqual|toMatchObject)\(\s{0,50}[[{]|\b(?:toMatchInlineSnapshot|deepEqual|deepStrictEqual|eql|deep\.equal)\(/g,
};
