import type { Block } from "./block.ts";
import { findCalledBlocks, findTitledCalls } from "./find-called-blocks.ts";
import {
  type Declarations,
  findBracedParts,
  findMarkedBlocks,
  findNamedBlocks,
} from "./find-declared-blocks.ts";
import { findIndentedBlocks, type Indentation } from "./find-indented-blocks.ts";
import type { Syntax } from "./mask-source.ts";
import type { Source } from "./source.ts";

/** What tests look like in a language. All expressions are global and look at code without comments and strings. */
export interface Language {
  readonly syntax: Syntax;
  readonly findBlocks: (source: Source) => readonly Block[];
  readonly assertion: RegExp;
  /** Leaves a running test. */
  readonly skipCall: RegExp;
  /** One test for many cases. */
  readonly table: RegExp;
  /** Compares a whole structure, and so may stand for several assertions. */
  readonly whole: RegExp;
  /** Assertions outside of tests are those of the program. */
  readonly isMixedWithProgram?: true;
}

const quoted = (quote: string, spansLines = false): Syntax["strings"][number] => ({
  open: quote,
  close: quote,
  escapes: true,
  spansLines,
});
const raw = (open: string, close: string): Syntax["strings"][number] => ({
  open,
  close,
  escapes: false,
  spansLines: true,
});
const C_COMMENTS = { lineComments: ["//"], blockComments: [{ open: "/*", close: "*/" }] } as const;
const NEVER = /(?!)/g;

const javascript: Language = {
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

const pythonBlocks: Indentation = {
  heads: [
    { kind: "test", pattern: /^(?:async\s{1,9})?def\s{1,9}(test\w*)/, notInside: ["test", "helper"] },
    { kind: "helper", pattern: /^(?:async\s{1,9})?def\s{1,9}(?!setUp|setup_|asyncSetUp)(\w+)/ },
    { kind: "suite", pattern: /^class\s{1,9}(Test\w*|\w+(?=\s{0,9}\((?!\s{0,9}(?:object)?\s{0,9}\))))/ },
    { kind: "helper", pattern: /^class\s{1,9}(\w+)/ },
    { kind: "loop", pattern: /^(?:async\s{1,9})?for\b|^while\b|^with\s{1,9}self\.subTest\b/ },
    { kind: "dead", pattern: /^if\s{1,9}(?:False|0)\s{0,9}:/ },
  ],
  decorator: /^@/,
  isSkipped: /\bskip(?:if|If|Unless)?\b/,
  isFailing: /\bxfail\b|\bexpectedFailure\b/,
};

const python: Language = {
  syntax: {
    lineComments: ["#"],
    blockComments: [],
    strings: [quoted('"""', true), quoted("'''", true), quoted('"'), quoted("'")],
  },
  findBlocks: (source) => findIndentedBlocks(source, pythonBlocks),
  assertion:
    /(?<!\bdef )\b(?:assert\b|assert_\w{1,80}\s{0,9}\(|assert[A-Z]\w{0,80}\s{0,9}\(|pytest\.(?:raises|warns|fail)\b|self\.fail\()/g,
  skipCall:
    /\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\braise\s{1,9}(?:unittest\.)?SkipTest\b|^pytestmark\s{0,9}[=:][^\n]{0,200}\b(?:skip|skipif|xfail)\b|\b__test__\s{0,9}=\s{0,9}False\b/gm,
  table: /\bparametrize\b|\bparameterized\b|\bsubTest\b|@given\b/g,
  whole: /==\s{0,9}(?:[[{(]|[A-Z]\w{0,60}\()|\bassert(?:Dict|List|Count|Tuple|Sequence)Equal\b|\bsnapshot\b/g,
};

const GO_TEST =
  /\bfunc\s{1,9}(?:\(\s{0,9}\w{1,40}\s{1,9}\*?\w{1,60}\)\s{0,9}(?=Test\w{0,200}\(\)))?((?:Test|Fuzz)\w{0,200})\s{0,9}\((?=\)|\s{0,9}\w{0,40}\s{0,9}\*\s{0,9}testing\.[TF]\b)/g;

const go: Language = {
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
};

const RUST_VISIBLE = String.raw`(?:pub(?:\([^)\n]{0,40}\))?\s{1,9})?`;

const rustDeclarations: Declarations = {
  mark: /#(?=\[)/g,
  markName: /#\[/y,
  isTest:
    /^#\[\s{0,9}(?:\w{1,40}::){0,3}(?:test|rstest|test_case|case|quickcheck|wasm_bindgen_test|test_log)\b/,
  isSkipped:
    /^#\[\s{0,9}(?:ignore\b|cfg\(\s{0,9}(?:any\(\s{0,9}\)|FALSE|false|not\(\s{0,9}test\s{0,9}\))\s{0,9}\)|cfg_attr\(.{0,60}\bignore\b)/,
  isFailing: NEVER,
  function: new RegExp(
    String.raw`${RUST_VISIBLE}(?:(?:async|unsafe|const)\s{1,9}){0,3}fn\s{1,9}(\w{1,200})`,
    "y",
  ),
  container: new RegExp(String.raw`${RUST_VISIBLE}mod\s{1,9}(\w{1,200})`, "y"),
};

const rust: Language = {
  syntax: {
    lineComments: ["//"],
    blockComments: [{ open: "/*", close: "*/", nests: true }],
    strings: [raw('r##"', '"##'), raw('r#"', '"#'), raw('r"', '"'), quoted('"', true)],
    character: /'(?:\\[^\n]{1,9}?|[^\\'\n])'/uy,
  },
  findBlocks: (source) => [
    ...findMarkedBlocks(source, rustDeclarations),
    ...findBracedParts(source, "dead", /\bif\s{1,9}false\s{0,9}\{/g),
    ...findBracedParts(source, "loop", /\bfor\s{1,9}[\w(),&\s]{1,60}?\bin\b/g),
  ],
  assertion:
    /(?<!macro_rules! )\b(?:\w{1,20}_)?assert(?:_\w{1,60})?!|\b(?:panic|unreachable)!|#\[\s{0,9}should_panic\b/g,
  skipCall: NEVER,
  table: /#\[\s{0,9}(?:rstest|case|test_case)\b/g,
  whole: /\bassert_eq!\([^;]{0,200}?(?:vec!\[|\w\s\{|\[)|\bassert_(?:\w{1,20}_)?snapshot!/g,
  isMixedWithProgram: true,
};

const METHOD = /(?:[\w<>[\],.?]{1,80}\s{1,50}){0,8}?(?:(\w{1,200})\s{0,9}\(|(?="))/y;
const CLASS = /(?:[\w<>.]{1,80}\s{1,50}){0,8}?(?:class|interface|object|record)\s{1,9}(\w{1,200})/y;

const java: Language = {
  syntax: {
    ...C_COMMENTS,
    strings: [quoted('"""', true), quoted('"'), quoted("'"), { ...raw("`", "`"), spansLines: false }],
  },
  findBlocks: (source) => [
    ...findMarkedBlocks(source, javaDeclarations),
    ...findBracedParts(source, "dead", /\bif\s{0,9}\(\s{0,9}false\s{0,9}\)\s{0,9}\{/g),
    ...findBracedParts(source, "loop", /\b(?:for|while)\s{0,9}\(|\.forEach\s{0,9}[({]/g),
  ],
  assertion:
    /(?<!\b(?:void|fun) )\b(?:assert\w{0,80}|verify\w{0,60}|fail|expect[A-Z]?\w{0,60}|andExpect\w{0,20})\s{0,9}(?:<[\w<>?, ]{0,80}>\s{0,9})?[({]|\bshould[A-Z]\w{0,60}|\bexpected\s{0,9}=/g,
  skipCall: /\bassume(?:True|False|That|NotNull|NoException)\s{0,9}\(/g,
  table: /@(?:ParameterizedTest|ValueSource|CsvSource|MethodSource|EnumSource|CsvFileSource|TestFactory)\b/g,
  whole:
    /\bcontainsExactly\w{0,40}\(|\busingRecursiveComparison\b|\bassertAll\(|\bassertArrayEquals\(|\bassertIterableEquals\(|\b(?:isEqualTo|assertEquals)\(\s{0,50}(?:new|List|Map|Set|listOf|mapOf|setOf)\b/g,
};

const javaDeclarations: Declarations = {
  mark: /@(?=\w)/g,
  markName: /@[\w.:]{1,120}/y,
  isTest: /^@(?:[\w.]{0,80}\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/,
  isSkipped: /^@(?:[\w.]{0,80}\.)?(?:Disabled\w{0,40}|Ignore)\b|\benabled\s{0,9}=\s{0,9}false\b/,
  isFailing: NEVER,
  function: METHOD,
  container: CLASS,
};

const csharp: Language = {
  ...java,
  syntax: { ...C_COMMENTS, strings: [raw('@"', '"'), quoted('"'), quoted("'")] },
  findBlocks: (source) =>
    findMarkedBlocks(source, {
      mark: /(?<![\w\])])\[(?=[A-Z])/g,
      markName: /\[/y,
      isTest: /^\[\s{0,9}(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b/,
      isSkipped: /\bSkip\s{0,9}=|^\[\s{0,9}(?:Ignore|Explicit)\b/,
      isFailing: NEVER,
      function: METHOD,
      container: CLASS,
    }),
  assertion:
    /\bAssert\.\w{1,60}\s{0,9}[(<]|\.Should\(|\bShould[A-Z]\w{0,60}\(|\bVerify\w{0,40}\(|\bThrows\w{0,40}\(/g,
  skipCall: /\bAssert\.(?:Inconclusive|Ignore)\(|\bSkip\.(?:If|IfNot)\(/g,
  table: /\[\s{0,9}(?:Theory|InlineData|TestCase|MemberData|DataRow)\b/g,
  whole: /\bEquivalent\w{0,20}\(|\bBeEquivalentTo\(/g,
};

const php: Language = {
  ...java,
  syntax: {
    lineComments: ["//", "#"],
    blockComments: C_COMMENTS.blockComments,
    strings: [quoted('"', true), quoted("'", true)],
  },
  findBlocks: (source) => findNamedBlocks(source, /\bfunction\s{1,9}(test\w*)\s{0,9}\(/g),
  assertion: /(?<!\bfunction )\b(?:assert[A-Z]\w{0,60}|expect(?:Exception\w{0,30})?|fail)\(/g,
  skipCall: /\bmarkTest(?:Skipped|Incomplete)\(/g,
  table: /\bdataProvider\b|\bDataProvider\b|\bTestWith\b/g,
  whole: NEVER,
};

const ruby: Language = {
  syntax: { lineComments: ["#"], blockComments: [], strings: [quoted('"'), quoted("'")] },
  findBlocks: (source) =>
    findIndentedBlocks(source, {
      heads: [
        { kind: "test", pattern: /^(?:it|specify|scenario|test|should)[\s(]{1,9}(?=")/ },
        {
          kind: "test",
          pattern: /^(?:xit|xspecify|xscenario|pending|skip)[\s(]{1,9}(?=".{0,180}\bdo\b)/,
          skip: "skipped",
        },
        { kind: "test", pattern: /^def\s{1,9}(test_\w+)/ },
        { kind: "suite", pattern: /^x(?:describe|context|feature)[\s(]/, skip: "skipped" },
        {
          kind: "suite",
          pattern: /^(?:RSpec\.)?(?:describe|context|feature)[\s(]{1,9}(?=")|^class\s{1,9}(\w+)/,
        },
        { kind: "helper", pattern: /^def\s{1,9}(\w+)/ },
        { kind: "loop", pattern: /^[^#\n]{1,100}\.each\b/ },
        { kind: "dead", pattern: /^if\s{1,9}false\b/ },
      ],
      decorator: null,
      isSkipped: NEVER,
      isFailing: NEVER,
    }),
  assertion:
    /(?<!\bdef )\b(?:expect\s{0,9}[({]|assert\w{0,40}\b|refute\w{0,40}\b|must_\w{1,40}|wont_\w{1,40}|should\s|is_expected\b)/g,
  skipCall: /^\s{0,40}(?:skip|pending)\b(?![^\n]{0,180}\bdo\b)/gm,
  table: NEVER,
  whole: /\b(?:have_attributes|contain_exactly|match_array)\b/g,
};

const BY_EXTENSION: readonly (readonly [RegExp, Language])[] = [
  [/\.[cm]?[jt]sx?$/, javascript],
  [/\.py$/, python],
  [/\.go$/, go],
  [/\.rs$/, rust],
  [/\.(?:java|kt|kts)$/, java],
  [/\.cs$/, csharp],
  [/\.php$/, php],
  [/\.rb$/, ruby],
];

export function languageOf(path: string): Language | null {
  return BY_EXTENSION.find(([extension]) => extension.test(path))?.[1] ?? null;
}
