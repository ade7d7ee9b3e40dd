import {
  type Declarations,
  findBracedParts,
  findMarkedBlocks,
  findNamedBlocks,
} from "./find-declared-blocks.ts";
import { findSwallowed } from "./find-guarded-parts.ts";
import { C_COMMENTS, type Language, NEVER, quoted, raw } from "./language.ts";

const METHOD = /(?:[\w<>[\],.?]{1,80}\s{1,50}){0,8}?(?:(\w{1,200})\s{0,9}\(|(?="))/y;
const CLASS = /(?:[\w<>.]{1,80}\s{1,50}){0,8}?(?:class|interface|object|record)\s{1,9}(\w{1,200})/y;

export const java: Language = {
  syntax: {
    ...C_COMMENTS,
    strings: [quoted('"""', true), quoted('"'), quoted("'"), { ...raw("`", "`"), spansLines: false }],
  },
  findBlocks: (source) => [
    ...findMarkedBlocks(source, javaDeclarations),
    ...findBracedParts(source, "dead", /\bif\s{0,9}\(\s{0,9}false\s{0,9}\)\s{0,9}\{/g),
    ...findBracedParts(source, "loop", /\b(?:for|while)\s{0,9}\(|\.forEach\s{0,9}[({]/g),
    ...findSwallowed(source, IGNORING),
  ],
  assertion:
    /(?<!\b(?:void|fun) )\b(?:assert\w{0,80}|verify\w{0,60}|fail|expect[A-Z]?\w{0,60}|andExpect\w{0,20})\s{0,9}(?:<[\w<>?, ]{0,80}>\s{0,9})?[({]|\bshould[A-Z]\w{0,60}|\bexpected\s{0,9}=/g,
  skipCall: /\bassume(?:True|False|That|NotNull|NoException)\s{0,9}\(/g,
  table: /@(?:ParameterizedTest|ValueSource|CsvSource|MethodSource|EnumSource|CsvFileSource|TestFactory)\b/g,
  whole:
    /\bcontainsExactly\w{0,40}\(|\busingRecursiveComparison\b|\bassertAll\(|\bassertArrayEquals\(|\bassertIterableEquals\(|\b(?:isEqualTo|assertEquals)\(\s{0,50}(?:new|List|Map|Set|listOf|mapOf|setOf)\b/g,
  cases: /@(?:ValueSource|CsvSource)\s{0,9}\((?:\s{0,9}\w{1,20}\s{0,9}=)?\s{0,50}(?=\{)/g,
  exit: /(?<=\n[ \t]{0,40})System\.exit\(\s{0,9}0\s{0,9}\)/g,
};

/** An Exception is not what a failed assertion throws. */
const IGNORING =
  /\s{0,50}catch\s{0,9}\(\s{0,9}(?:final\s{1,9}|\w{1,40}\s{0,9}:\s{0,9})?(?:Throwable|AssertionError|Error)\b[^()\n]{0,60}\)\s{0,9}\{\s{0,200}\}/y;

const javaDeclarations: Declarations = {
  mark: /@(?=\w)/g,
  markName: /@[\w.:]{1,120}/y,
  isTest: /^@(?:[\w.]{0,80}\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/,
  isSkipped: /^@(?:[\w.]{0,80}\.)?(?:Disabled\w{0,40}|Ignore)\b|\benabled\s{0,9}=\s{0,9}false\b/,
  isFailing: NEVER,
  isConditional: /^@(?:[\w.]{0,80}\.)?Enabled(?:On|If|For)\w{0,60}\b/,
  function: METHOD,
  container: CLASS,
};

export const csharp: Language = {
  ...java,
  syntax: { ...C_COMMENTS, strings: [raw('@"', '"'), quoted('"'), quoted("'")] },
  findBlocks: (source) =>
    findMarkedBlocks(source, {
      mark: /(?<![\w\])])\[(?=[A-Z])/g,
      markName: /\[/y,
      isTest: /^\[\s{0,9}(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b/,
      isSkipped: /\bSkip\s{0,9}=|^\[\s{0,9}(?:Ignore|Explicit)\b/,
      isFailing: NEVER,
      isConditional: NEVER,
      function: METHOD,
      container: CLASS,
    }),
  assertion:
    /\bAssert\.\w{1,60}\s{0,9}[(<]|\.Should\(|\bShould[A-Z]\w{0,60}\(|\bVerify\w{0,40}\(|\bThrows\w{0,40}\(/g,
  skipCall: /\bAssert\.(?:Inconclusive|Ignore)\(|\bSkip\.(?:If|IfNot)\(/g,
  cases: /(?<=\[\s{0,9})(?:InlineData|TestCase|DataRow)\b(?=\()/g,
  exit: /(?<=\n[ \t]{0,40})Environment\.Exit\(\s{0,9}0\s{0,9}\)/g,
  table: /\[\s{0,9}(?:Theory|InlineData|TestCase|MemberData|DataRow)\b/g,
  whole: /\bEquivalent\w{0,20}\(|\bBeEquivalentTo\(/g,
};

export const php: Language = {
  ...java,
  syntax: {
    lineComments: ["//", "#"],
    blockComments: C_COMMENTS.blockComments,
    strings: [quoted('"', true), quoted("'", true)],
  },
  findBlocks: (source) => findNamedBlocks(source, /\bfunction\s{1,9}(test\w*)\s{0,9}\(/g),
  assertion: /(?<!\bfunction )\b(?:assert[A-Z]\w{0,60}|expect(?:Exception\w{0,30})?|fail)\(/g,
  skipCall: /\bmarkTest(?:Skipped|Incomplete)\(/g,
  cases: NEVER,
  exit: /^[ \t]{0,40}(?:exit|die)\(\s{0,9}0?\s{0,9}\)/gm,
  table: /\bdataProvider\b|\bDataProvider\b|\bTestWith\b/g,
  whole: NEVER,
};
