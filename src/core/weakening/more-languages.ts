import type { Block } from "./block.ts";
import { findTitledCalls } from "./find-called-blocks.ts";
import { findBracedParts, findNamedBlocks } from "./find-declared-blocks.ts";
import { findIndentedBlocks } from "./find-indented-blocks.ts";
import { C_COMMENTS, type Language, NEVER, quoted } from "./language.ts";
import type { Source } from "./source.ts";

/** GoogleTest and its relatives. */
export const cpp: Language = {
  syntax: { ...C_COMMENTS, strings: [quoted('"')], character: /'(?:\\[^\n]{1,9}?|[^\\'\n])'/uy },
  findBlocks: (source) => [
    ...findNamedBlocks(source, GOOGLE_TEST).map(withoutDisabled),
    ...findBracedParts(source, "loop", /\b(?:for|while)\s{0,9}\(/g),
  ],
  assertion: /\b(?:EXPECT|ASSERT)_[A-Z_]{1,40}\s{0,9}\(|\b(?:REQUIRE|CHECK)(?:_[A-Z_]{1,40})?\s{0,9}\(/g,
  skipCall: /\bGTEST_SKIP\s{0,9}\(/g,
  table: /\bINSTANTIATE_TEST_SUITE_P\b/g,
  whole: /\bElementsAre\w{0,20}\(/g,
};

const GOOGLE_TEST =
  /\b(?:TYPED_)?TEST(?:_F|_P)?\s{0,9}\(\s{0,9}(\w{1,100}\s{0,9},\s{0,50}\w{1,100})\s{0,9}\)/g;

/** The runner leaves out what is called so. */
function withoutDisabled(block: Block): Block {
  const name = block.name.replaceAll("DISABLED_", "");
  return name === block.name ? block : { ...block, name, skip: "skipped" };
}

/** XCTest. */
export const swift: Language = {
  syntax: {
    lineComments: ["//"],
    blockComments: [{ open: "/*", close: "*/", nests: true }],
    strings: [quoted('"""', true), quoted('"')],
  },
  findBlocks: (source) => [
    ...findNamedBlocks(source, /\bfunc\s{1,9}(test\w{0,200})\s{0,9}(?=\(\s{0,9}\))/g),
    ...findBracedParts(source, "loop", /\bfor\s{1,9}\w{1,60}\s{1,9}in\b/g),
  ],
  assertion: /\bXCT(?:Assert\w{0,60}|Fail|Unwrap)\s{0,9}\(|#(?:expect|require)\s{0,9}\(|\bfulfillment\(/g,
  skipCall: /\bXCTSkip(?:If|Unless)?\s{0,9}\(/g,
  table: NEVER,
  whole: NEVER,
};

/** ExUnit. */
export const elixir: Language = {
  syntax: { lineComments: ["#"], blockComments: [], strings: [quoted('"""', true), quoted('"')] },
  findBlocks: (source) =>
    findIndentedBlocks(source, {
      heads: [
        { kind: "test", pattern: /^(?:test|property)[\s(]{1,9}(?=")/ },
        { kind: "suite", pattern: /^describe[\s(]{1,9}(?=")|^defmodule\b/ },
        { kind: "helper", pattern: /^defp?\s{1,9}(\w+)/ },
        { kind: "loop", pattern: /^for\b|^[^#\n]{0,100}\bEnum\.each\b/ },
      ],
      decorator: /^@(?:tag|moduletag|describetag)\b/,
      isSkipped: /\bskip\b/,
      isFailing: NEVER,
    }),
  assertion: /\b(?:assert|refute|flunk)(?:_\w{1,40})?\b/g,
  skipCall: NEVER,
  table: NEVER,
  whole: /==\s{0,9}[[{%]/g,
};

export const dart: Language = {
  syntax: { ...C_COMMENTS, strings: [quoted("'''", true), quoted('"""', true), quoted('"'), quoted("'")] },
  findBlocks: (source) => [
    ...findTitledCalls(source, /(?<![\w.])(?:test|testWidgets|group)\s{0,9}\((?=\s{0,50}")/g).map((block) =>
      dartBlock(source, block),
    ),
    ...findBracedParts(source, "loop", /\bfor\s{0,9}\(|\.forEach\s{0,9}\(/g),
  ],
  assertion: /(?<![\w.])(?:expect(?:Later|Sync)?|fail|verify)\s{0,9}\(/g,
  skipCall: /\bmarkTestSkipped\s{0,9}\(/g,
  table: NEVER,
  whole: NEVER,
};

const DART_OPTIONS_LENGTH_MAX = 200;

function dartBlock({ code }: Source, block: Block): Block {
  const kind = code.startsWith("group", block.start) ? "suite" : "test";
  const from = Math.max(block.start, block.end - DART_OPTIONS_LENGTH_MAX);
  // Options follow the function.
  const options = code.slice(from, block.end).replace(/^[^]*\}/, "");
  const isSkipped = /\bskip\s{0,9}:\s{0,9}(?!false|null|\s)/.test(options);
  return { ...block, kind, skip: isSkipped ? "skipped" : block.skip };
}

export const bats: Language = {
  syntax: { lineComments: ["#"], blockComments: [], strings: [quoted('"'), quoted("'")] },
  findBlocks: (source) =>
    findNamedBlocks(source, /^[ \t]{0,40}@test\s{1,9}(?=")/gm).map((block) => ({
      ...block,
      name: titleAt(source, block),
    })),
  assertion: NEVER,
  skipCall: /^[ \t]{0,40}skip\b/gm,
  table: NEVER,
  whole: NEVER,
};

function titleAt({ text, code, strings }: Source, { start }: Block): string {
  const place = strings.get(code.indexOf('"', start));
  return place === undefined ? "" : text.slice(place.from, place.to);
}

/** Cucumber's feature files: all that is known is which scenarios there are. */
export const gherkin: Language = {
  syntax: { lineComments: ["#"], blockComments: [], strings: [] },
  findBlocks: (source) =>
    findIndentedBlocks(source, {
      heads: [{ kind: "test", pattern: /^(?:Scenario(?: Outline| Template)?|Example):\s{0,9}(\S.{0,120})/ }],
      decorator: /^@/,
      isSkipped: /@(?:skip|ignore|wip)\b/,
      isFailing: NEVER,
    }),
  assertion: NEVER,
  skipCall: NEVER,
  table: /^[ \t]{0,40}Examples:/gm,
  whole: NEVER,
};
