import { findIndentedBlocks } from "./find-indented-blocks.ts";
import { type Language, NEVER, quoted } from "./language.ts";

export const ruby: Language = {
  syntax: { lineComments: ["#"], blockComments: [], strings: [quoted('"'), quoted("'")] },
  findBlocks: (source) =>
    findIndentedBlocks(source, {
      heads: [
        {
          kind: "test",
          pattern:
            /^(?:it|specify|scenario)[\s(]{1,9}(?="[^"]{0,150}",.{0,40}(?::skip\b|\bskip:|:pending\b|\bpending:))/,
          skip: "skipped",
        },
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
