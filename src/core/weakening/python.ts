import { pythonAliases } from "./assertion-aliases.ts";
import type { Block } from "./block.ts";
import { findIndentedBlocks, type Indentation } from "./find-indented-blocks.ts";
import { type Language, quoted } from "./language.ts";
import { matchAt, type Source } from "./source.ts";

export const python: Language = {
  syntax: {
    lineComments: ["#"],
    blockComments: [],
    strings: [quoted('"""', true), quoted("'''", true), quoted('"'), quoted("'")],
  },
  findBlocks: (source) =>
    findIndentedBlocks(source, pythonBlocks).filter(
      (block) => !isTry(source, block) || isIgnored(source, block),
    ),
  assertion:
    /(?<!\bdef )\b(?:assert\b|assert_\w{1,80}\s{0,9}\(|assert[A-Z]\w{0,80}\s{0,9}\(|pytest\.(?:raises|warns|fail)\b|self\.fail\()/g,
  skipCall:
    /\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\braise\s{1,9}(?:unittest\.)?SkipTest\b|^pytestmark\s{0,9}[=:][^\n]{0,200}\b(?:skip|skipif|xfail)\b|\b__test__\s{0,9}=\s{0,9}False\b/gm,
  table: /\bparametrize\b|\bparameterized\b|\bsubTest\b|@given\b/g,
  whole: /==\s{0,9}(?:[[{(]|[A-Z]\w{0,60}\()|\bassert(?:Dict|List|Count|Tuple|Sequence)Equal\b|\bsnapshot\b/g,
  cases: /\bparametrize\(\s{0,50}(?:"[^"\n]{0,200}"|[[(][^[\]()]{0,200}[\])])\s{0,9},\s{0,50}/g,
  exit: /^(?:os\._exit|sys\.exit|quit|exit)\(\s{0,9}0?\s{0,9}\)|(?<!SystemExit[^\n]{0,60}\n\s{0,40})(?<=\n[ \t]{1,40})(?:sys\.exit|quit|exit)\(\s{0,9}0?\s{0,9}\)/gm,
  findAliases: pythonAliases,
  isReplacedByName: true,
};

const isTry = ({ code }: Source, { kind, start }: Block): boolean =>
  kind === "swallowed" && code.startsWith("try", start);

const IGNORING =
  /except\s{0,9}(?:\(?\s{0,9}(?:Exception|BaseException|AssertionError)\b[^:\n]{0,80})?:\s{0,200}(?:pass\b|\.\.\.|return\b|print\([^()\n]{0,100}\))[ \t]{0,40}(?:\n|$)/y;

/** What stands behind the part says whether its failures go unnoticed. */
function isIgnored({ code }: Source, { end }: Block): boolean {
  return matchAt(IGNORING, code, end) !== null;
}

const SUPPRESSING =
  /^with\s{1,9}(?:contextlib\.)?suppress\(\s{0,9}(?:Exception|BaseException|AssertionError)\b/;

const pythonBlocks: Indentation = {
  heads: [
    { kind: "test", pattern: /^(?:async\s{1,9})?def\s{1,9}(test\w*)/, notInside: ["test", "helper"] },
    { kind: "helper", pattern: /^(?:async\s{1,9})?def\s{1,9}(?!setUp|setup_|asyncSetUp)(\w+)/ },
    { kind: "suite", pattern: /^class\s{1,9}(Test\w*|\w+(?=\s{0,9}\((?!\s{0,9}(?:object)?\s{0,9}\))))/ },
    { kind: "helper", pattern: /^class\s{1,9}(\w+)/ },
    { kind: "loop", pattern: /^(?:async\s{1,9})?for\b|^while\b|^with\s{1,9}self\.subTest\b/ },
    { kind: "dead", pattern: /^if\s{1,9}(?:False|0)\s{0,9}:/ },
    { kind: "helper", pattern: /^if\s{1,9}__name__\b/ },
    { kind: "suite", pattern: /^if\b.{0,60}\b(?:environ|getenv)\b/, skip: "conditional" },
    { kind: "swallowed", pattern: /^try\s{0,9}:/ },
    { kind: "swallowed", pattern: SUPPRESSING },
  ],
  decorator: /^@/,
  isSkipped: /\bskip(?:if|If|Unless)?\b/,
  isFailing: /\bxfail\b|\bexpectedFailure\b/,
};
