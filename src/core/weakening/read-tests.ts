import type { Block, Skip } from "./block.ts";
import { findMarks, type Mark } from "./find-marks.ts";
import { languageOf } from "./languages.ts";
import { leftOut } from "./left-out.ts";
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
  /** How many cases it says it has; 0 where that is not known. */
  readonly cases: number;
  /** Its assertions as they are written, without spaces. */
  readonly checks: readonly string[];
  readonly isToPanic: boolean;
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
  /** How often it ends the process as if all went well. */
  readonly exits: number;
  /** What checks or runs tests elsewhere, and does nothing here. */
  readonly stubs: readonly string[];
}

const NO_TESTS: TestFile = {
  tests: [],
  focused: [],
  assertions: 0,
  helperAssertions: 0,
  tables: 0,
  exits: 0,
  stubs: [],
};

/** What a test file tests, as far as a reader without a parser can say; in linear time. */
export function readTests(path: string, text: string | null): TestFile {
  const language = languageOf(path);
  if (language === null || text === null) return NO_TESTS;
  const source = openSource(text, language.syntax);
  const walk = new Walk(language.isMixedWithProgram === true && !isTestFile(path));
  const blocks = language.findBlocks(source).toSorted((a, b) => a.start - b.start || b.end - a.end);
  walk.run(blocks, findMarks(source, language));
  const nodes = walk.nodes.filter(({ block }) => block.kind === "test");
  const skipOfFile = leftOut(path, text) ?? (walk.isFileSkipped ? "skipped" : null);
  const running = language.isReplacedByName === true ? withoutReplaced(source, walk.nodes) : nodes;
  const tests = running.map((node) => testOf(path, source, node, skipOfFile));
  return {
    tests,
    focused: walk.nodes.filter(({ block }) => block.isFocused).map(({ block }) => block.name),
    assertions: walk.assertions,
    helperAssertions: walk.assertions - tests.reduce((sum, test) => sum + test.assertions, 0),
    tables: walk.tables,
    exits: walk.exits,
    stubs: language.findStubs?.(source) ?? [],
  };
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
  readonly counts: { assertion: number; trivial: number; whole: number; cases: number };
  readonly checks: string[];
  readonly isSwallowed: boolean;
  isLeft: boolean;
  isUsedLoop: boolean;
}

/** Goes through blocks and marks in their order, and gives each mark to the blocks it stands in. */
class Walk {
  readonly nodes: Node[] = [];
  assertions = 0;
  tables = 0;
  exits = 0;
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
      counts: { assertion: 0, trivial: 0, whole: 0, cases: 0 },
      checks: [],
      isSwallowed: block.kind === "swallowed" || (parent?.isSwallowed === true && block.kind !== "test"),
      isLeft: false,
      isUsedLoop: false,
    };
    if (block.kind === "loop") node.loop = node;
    if (block.kind === "test") {
      node.test = node;
      node.counts.cases += node.loop?.counts.cases ?? 0;
      this.useLoop(node.loop);
    }
    this.nodes.push(node);
    this.open.push(node);
  }

  private take({ is, count, words, isInside }: Mark, node: Node | null): void {
    if (node?.isDead === true) return;
    if (is === "skip") this.leave(node);
    else if (is === "exit") this.exits += mayEnd(node, isInside === true) ? 1 : 0;
    else if (is === "table") this.tables += 1;
    else if (is === "cases") this.addCases(node, count ?? 0);
    else if (node?.isSwallowed !== true) this.count(is, words, node);
  }

  private count(is: "assertion" | "trivial" | "whole", words: string | undefined, node: Node | null): void {
    if (node?.test != null) {
      node.test.counts[is] += 1;
      if (is === "assertion") {
        this.useLoop(node.loop);
        node.test.checks.push(words ?? "");
      }
    }
    const isProgram = this.isMixedWithProgram && node?.isInSuite !== true && node?.test == null;
    if (is === "assertion" && !isProgram) this.assertions += 1;
  }

  /** The cases of a loop are those of the test in it. */
  private addCases(node: Node | null, count: number): void {
    if (node?.test != null) node.test.counts.cases += count;
    else if (node?.block.kind === "loop") node.counts.cases = count;
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

/** What a helper or a program does is its own affair. */
function mayEnd(node: Node | null, isInside: boolean): boolean {
  return node?.isHelper !== true && (!isInside || node?.test != null);
}

const FINGERPRINT_LENGTH = 400;

function testOf(path: string, source: Source, node: Node, skipOfFile: Skip | null): Test {
  const { block, counts, checks } = node;
  const { from, to } = block.body ?? { from: block.end, to: block.end };
  return {
    path,
    name: block.name,
    skip: skipOf(source, node) ?? skipOfFile ?? (mayLeave(source, from) ? "conditional" : null),
    isEmpty: isEmpty(source, from, to),
    assertions: counts.assertion,
    trivialAssertions: counts.trivial,
    wholes: counts.whole,
    fingerprint: source.text.slice(from, Math.min(to, from + FINGERPRINT_LENGTH)).replaceAll(/\s+/g, ""),
    cases: counts.cases,
    checks,
    isToPanic: /#\[\s{0,9}should_panic\b/.test(
      source.code.slice(block.start, Math.min(from, block.start + HEAD_MAX)),
    ),
  };
}

const HEAD_MAX = 500;
const DEPTH_MAX = 50;

function skipOf(source: Source, node: Node): Skip | null {
  let around: Node | null = node;
  for (let depth = 0; around !== null && depth < DEPTH_MAX; depth += 1) {
    if (around.isLeft || around.block.kind === "dead") return "skipped";
    const { skip, kind, body } = around.block;
    if (skip !== null) return skip;
    if (kind === "suite" && body !== null && mayLeave(source, body.from)) return "conditional";
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

const CONDITIONAL_LEAVING =
  /if\b(?!\s{1,9}testing\.Short\(\)|[^\n]{0,60}\bGO_)[^\n{}:;]{1,100}(?:[{:)]\s{0,50})return(?:[ \t]{1,9}(?:None|undefined|null|true))?[ \t]{0,9};?\s{0,50}(?:[\n}]|$)/y;

/** Whether its first statement may end it. */
function mayLeave({ code, strings }: Source, from: number): boolean {
  const body = skipSpace(code, from);
  return matchAt(CONDITIONAL_LEAVING, code, skipSpace(code, strings.get(body)?.end ?? body)) !== null;
}

const GONE = /^(?:del[ \t]{1,9}([\w, \t]{1,300})|(\w{1,200})[ \t]{0,9}=[ \t]{0,9}(?:None|lambda\b))/gm;

/** Python runs the last of several functions or classes with one name, and none that is deleted. */
function withoutReplaced({ code }: Source, nodes: readonly Node[]): readonly Node[] {
  const gone = new Set(
    Array.from(code.matchAll(GONE)).flatMap(([, names, name]) => name ?? names?.split(/[,\s]+/) ?? []),
  );
  const later = new Map<Node | null, Set<string>>();
  const replaced = new Set<Node | null>();
  for (const node of nodes.toReversed()) {
    const { block, parent } = node;
    const isAtMargin = block.start === 0 || code.charAt(block.start - 1) === "\n";
    const isPlain = parent === null ? isAtMargin : parent.block.kind === "suite" && parent.block.name !== "";
    if (!isPlain || block.name === "" || (block.kind !== "test" && block.kind !== "suite")) continue;
    const names = later.get(parent) ?? new Set(parent === null ? gone : []);
    later.set(parent, names);
    if (names.has(block.name)) replaced.add(node);
    names.add(block.name);
  }
  return nodes.filter(
    (node) => node.block.kind === "test" && !replaced.has(node) && !replaced.has(node.parent),
  );
}
