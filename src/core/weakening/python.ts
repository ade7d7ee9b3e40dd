import { findIndentedBlocks, type Indentation } from "./find-indented-blocks.ts";
import { type Language, quoted } from "./language.ts";

export const python: Language = {
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
