import { type Declarations, findBracedParts, findMarkedBlocks } from "./find-declared-blocks.ts";
import { type Language, NEVER, quoted, raw } from "./language.ts";

const RUST_VISIBLE = String.raw`(?:pub(?:\([^)\n]{0,40}\))?\s{1,9})?`;

const rustDeclarations: Declarations = {
  mark: /#(?=\[)/g,
  markName: /#\[/y,
  isTest:
    /^#\[\s{0,9}(?:\w{1,40}::){0,3}(?:test|rstest|test_case|case|quickcheck|wasm_bindgen_test|test_log)\b/,
  isSkipped:
    /^#\[\s{0,9}(?:ignore\b|cfg\(\s{0,9}(?:any\(\s{0,9}\)|FALSE|false|not\(\s{0,9}test\s{0,9}\))\s{0,9}\)|cfg_attr\(.{0,60}\bignore\b)/,
  isFailing: NEVER,
  isConditional: /^#\[\s{0,9}cfg\([^\]]{0,70}\bfeature\b/,
  function: new RegExp(
    String.raw`${RUST_VISIBLE}(?:(?:async|unsafe|const)\s{1,9}){0,3}fn\s{1,9}(\w{1,200})`,
    "y",
  ),
  container: new RegExp(String.raw`${RUST_VISIBLE}mod\s{1,9}(\w{1,200})`, "y"),
};

export const rust: Language = {
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
    ...findBracedParts(
      source,
      "swallowed",
      /\blet\s{1,9}_\s{0,9}=\s{0,9}(?:std::)?(?:panic::)?catch_unwind\s{0,9}\(/g,
    ),
  ],
  assertion:
    /(?<!macro_rules! )\b(?:\w{1,20}_)?assert(?:_\w{1,60})?!|\b(?:panic|unreachable)!|#\[\s{0,9}should_panic\b/g,
  skipCall: NEVER,
  table: /#\[\s{0,9}(?:rstest|case|test_case)\b/g,
  whole: /\bassert_eq!\([^;]{0,200}?(?:vec!\[|\w\s\{|\[)|\bassert_(?:\w{1,20}_)?snapshot!/g,
  cases: /#(?=\[\s{0,9}(?:case|test_case)\b[^\]]{0,9}\()/g,
  isMixedWithProgram: true,
  exit: /(?<=\n[ \t]{0,40})(?:std::)?process::exit\(\s{0,9}0\s{0,9}\)/g,
  findStubs: ({ code }) =>
    Array.from(
      code.matchAll(/\bmacro_rules!\s{1,9}(assert|assert_eq|assert_ne)\b/g),
      ([, name = ""]) => `${name}!`,
    ),
};
