import { findTitledCalls } from "./find-called-blocks.ts";
import { findBracedParts, findNamedBlocks } from "./find-declared-blocks.ts";
import { C_COMMENTS, type Language, NEVER, quoted, raw } from "./language.ts";

export const go: Language = {
  syntax: { ...C_COMMENTS, strings: [quoted('"'), raw("`", "`"), quoted("'")] },
  findBlocks: (source) => [
    ...findNamedBlocks(source, GO_TEST),
    ...findTitledCalls(source, /\b[a-z]\w{0,9}\.Run\((?=\s{0,50}")/g),
    ...findBracedParts(source, "dead", /\bif\s{1,9}false\s{0,9}\{/g),
    ...findBracedParts(source, "loop", /\bfor\b/g),
  ],
  assertion:
    /\b(?:[tfb]|tb)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|(?<![\w.]|func )(?:s\.)?(?:assert|require)\.\w{1,40}\(|(?<!\bfunc )\b(?:assert|require|expect|check)[A-Z]\w{0,60}\(|\bExpect\(|\bqt\.Assert\(|\bis\.[A-Z]\w{0,40}\(/g,
  skipCall: /(?<!testing\.Short\(\)\s{0,9}\{\s{0,50})\b(?:[tfb]|tb|s\.T\(\))\.(?:Skip|Skipf|SkipNow)\(/g,
  table: NEVER,
  whole: /\bDeepEqual\(|\bcmp\.Diff\(|\bElementsMatch\(|\bJSONEq\(|\.Equal\([^\n]{0,80}\{/g,
  cases:
    /(?:\[\]|\bmap\[\w{1,40}\])(?:struct\s{0,9}(?=\{)|\*?\w{0,40}(?:[tT]est|[cC]ase|\btc)\w{0,20}(?=\{))/g,
  exit: /\bfunc TestMain\((\w{1,20}) \*testing\.M\)\s{0,9}(?=\{)/g,
};

const GO_TEST =
  /\bfunc\s{1,9}(?:\(\s{0,9}\w{1,40}\s{1,9}\*?\w{1,60}\)\s{0,9}(?=Test\w{0,200}\(\)))?((?:Test|Fuzz)\w{0,200})\s{0,9}\((?=\)|\s{0,9}\w{0,40}\s{0,9}\*\s{0,9}testing\.[TF]\b)/g;
