import type { Block, Skip } from "./block.ts";
import { isTrivial } from "./is-trivial.ts";
import { type Language, languageOf } from "./languages.ts";
import { matchAt, openSource, skipSpace, type Source } from "./source.ts";
import { isTestFile } from "./test-files.ts";

export interface Test {
  readonly path: string;
  readonly name: string;
  readonly skip: Skip | null;
  /** Its body has no statement that runs. */
  readonly isEmpty: boolean;
  /** Those that can fail. */
  readonly assertions: number;
  readonly trivialAssertions: number;
  /** Comparisons of whole structures. */
  readonly wholes: number;
  /** The beginning of its body without spaces, to know it again under another name. */
  readonly fingerprint: string;
}

export interface TestFile {
  readonly tests: readonly Test[];
  /** The names of tests and suites besides which no other runs. */
  readonly focused: readonly string[];
  /** All that can fail, in tests and outside of them. */
  readonly assertions: number;
  readonly helperAssertions: number;
  /** How often one test stands for many cases. */
  readonly tables: number;
}

const NO_TESTS: TestFile = { tests: [], focused: [], assertions: 0, helperAssertions: 0, tables: 0 };

/** What a test file tests, as far as a reader without a parser can say; in linear time. */
export function readTests(path: string, text: string | null): TestFile {
  const language = languageOf(path);
  if (language === null || text === null) return NO_TESTS;
  const source = openSource(text, language.syntax);
  const walk = new Walk(language.isMixedWithProgram === true && !isTestFile(path));
  const blocks = language.findBlocks(source).toSorted((a, b) => a.start - b.start || b.end - a.end);
  const isLeftOut = path.endsWith(".go") && hasCustomBuildTag(text);
  walk.run(blocks, marksOf(source, language));
  const nodes = walk.nodes.filter(({ block }) => block.kind === "test");
  const tests = nodes.map((node) => testOf(path, source, node, isLeftOut || walk.isFileSkipped));
  return {
    tests,
    focused: walk.nodes.filter(({ block }) => block.isFocused).map(({ block }) => block.name),
    assertions: walk.assertions,
    helperAssertions: walk.assertions - tests.reduce((sum, test) => sum + test.assertions, 0),
    tables: walk.tables,
  };
}

interface Mark {
  readonly is: "assertion" | "trivial" | "skip" | "table" | "whole";
  readonly at: number;
}

function marksOf(source: Source, language: Language): readonly Mark[] {
  const find = (is: Mark["is"], pattern: RegExp): Mark[] =>
    Array.from(source.code.matchAll(pattern), ({ index }) => ({ is, at: index }));
  const assertions = Array.from(source.code.matchAll(language.assertion), ({ 0: words, index }): Mark => ({
    is: isTrivial(source, index, words) ? "trivial" : "assertion",
    at: index,
  }));
  const others = [
    ...find("skip", language.skipCall),
    ...find("table", language.table),
    ...find("whole", language.whole),
  ];
  return [...assertions, ...others].toSorted((a, b) => a.at - b.at);
}

interface Node {
  readonly block: Block;
  readonly parent: Node | null;
  /** The test around a place in the block, the block itself included. */
  test: Node | null;
  loop: Node | null;
  readonly isDead: boolean;
  readonly isHelper: boolean;
  readonly isInSuite: boolean;
  readonly counts: { assertion: number; trivial: number; whole: number };
  isLeft: boolean;
  isUsedLoop: boolean;
}

/** Goes through blocks and marks in their order, and gives each mark to the blocks it stands in. */
class Walk {
  readonly nodes: Node[] = [];
  assertions = 0;
  tables = 0;
  isFileSkipped = false;
  private readonly open: Node[] = [];
  private readonly isMixedWithProgram: boolean;

  constructor(isMixedWithProgram: boolean) {
    this.isMixedWithProgram = isMixedWithProgram;
  }

  run(blocks: readonly Block[], marks: readonly Mark[]): void {
    let next = 0;
    for (const mark of marks) {
      for (let block = blocks[next]; block !== undefined && block.start <= mark.at; block = blocks[next]) {
        this.enter(block);
        next += 1;
      }
      this.take(mark, this.around(mark.at));
    }
    for (const block of blocks.slice(next)) this.enter(block);
  }

  private around(at: number): Node | null {
    while ((this.open.at(-1)?.block.end ?? Infinity) <= at) this.open.pop();
    return this.open.at(-1) ?? null;
  }

  private enter(block: Block): void {
    const parent = this.around(block.start);
    const node: Node = {
      block,
      parent,
      test: parent?.test ?? null,
      loop: parent?.loop ?? null,
      isDead: block.kind === "dead" || parent?.isDead === true,
      isHelper: block.kind === "helper" || (parent?.isHelper === true && block.kind !== "test"),
      isInSuite: block.kind === "suite" || parent?.isInSuite === true,
      counts: { assertion: 0, trivial: 0, whole: 0 },
      isLeft: false,
      isUsedLoop: false,
    };
    if (block.kind === "loop") node.loop = node;
    if (block.kind === "test") {
      node.test = node;
      this.useLoop(node.loop);
    }
    this.nodes.push(node);
    this.open.push(node);
  }

  private take({ is }: Mark, node: Node | null): void {
    if (node?.isDead === true) return;
    if (is === "skip") this.leave(node);
    else if (is === "table") this.tables += 1;
    else if (node?.test != null) {
      node.test.counts[is] += 1;
      if (is === "assertion") this.useLoop(node.loop);
    }
    const isProgram = this.isMixedWithProgram && node?.isInSuite !== true && node?.test == null;
    if (is === "assertion" && !isProgram) this.assertions += 1;
  }

  private leave(node: Node | null): void {
    if (node === null) this.isFileSkipped = true;
    else if (node.test !== null) node.test.isLeft = true;
    else if (!node.isHelper) node.isLeft = true;
  }

  private useLoop(loop: Node | null): void {
    if (loop === null || loop.isUsedLoop) return;
    loop.isUsedLoop = true;
    this.tables += 1;
  }
}

const FINGERPRINT_LENGTH = 400;

function testOf(path: string, source: Source, node: Node, isFileSkipped: boolean): Test {
  const { block, counts } = node;
  const { from, to } = block.body ?? { from: block.end, to: block.end };
  return {
    path,
    name: block.name,
    skip: skipOf(node) ?? (isFileSkipped ? "skipped" : null),
    isEmpty: isEmpty(source, from, to),
    assertions: counts.assertion,
    trivialAssertions: counts.trivial,
    wholes: counts.whole,
    fingerprint: source.text.slice(from, Math.min(to, from + FINGERPRINT_LENGTH)).replaceAll(/\s+/g, ""),
  };
}

const DEPTH_MAX = 50;

function skipOf(node: Node): Skip | null {
  let around: Node | null = node;
  for (let depth = 0; around !== null && depth < DEPTH_MAX; depth += 1) {
    if (around.isLeft || around.block.kind === "dead") return "skipped";
    if (around.block.skip !== null) return around.block.skip;
    around = around.parent;
  }
  return null;
}

const NOTHING = /(?:pass|\.\.\.|None|\bend)[ \t]*[;\r\n]?\s*/y;
const LEAVING =
  /(?:if\s{0,9}\(?\s{0,9}(?:true|True|1)\s{0,9}\)?\s{0,9}[:{]?\s{0,50})?return[ \t]{0,9}(?:[;\r\n}]|$)/y;

function isEmpty({ code, strings }: Source, from: number, to: number): boolean {
  const body = skipSpace(code, from);
  // A docstring is not what runs.
  const start = skipSpace(code, strings.get(body)?.end ?? body);
  if (start >= to) return true;
  if (matchAt(LEAVING, code, start) !== null) return true;
  const nothing = matchAt(NOTHING, code, start);
  return nothing !== null && start + nothing[0].length >= to;
}

const PLATFORM =
  /^(?:linux|darwin|windows|unix|freebsd|openbsd|netbsd|amd64|arm64|arm|386|cgo|race|wasm|js|go1\.\d+)$/;

/** Go leaves a file out unless somebody asks for the tag. */
function hasCustomBuildTag(text: string): boolean {
  const tag = /^\/\/\s?(?:go:build|\+build)\s([^\n]{1,200})$/m.exec(text.slice(0, 5_000))?.[1];
  return tag !== undefined && (tag.match(/[\w.]+/g) ?? []).some((word) => !PLATFORM.test(word));
}
