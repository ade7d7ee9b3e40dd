import type { Skip } from "./block.ts";

/** Whether the tools leave a whole test file out, by its name or its first lines. */
export function leftOut(path: string, text: string): Skip | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.endsWith(".go")) {
    if (/^[_.]/.test(name) || hasCustomBuildTag(text)) return "skipped";
    return OTHER_PLATFORM.test(name) ? "conditional" : null;
  }
  // A base class runs where it is extended.
  const isBase = /\b(?:abstract\s{1,9}class|interface)\s/.test(text.slice(0, 20_000));
  return name.endsWith(".java") && !COLLECTED.test(name) && !isBase ? "conditional" : null;
}

const PLATFORM =
  /^(?:linux|darwin|windows|unix|freebsd|openbsd|netbsd|amd64|arm64|arm|386|cgo|race|wasm|js|go1\.\d+)$/;

/** Go leaves a file out unless somebody asks for the tag. */
function hasCustomBuildTag(text: string): boolean {
  const tag = /^\/\/\s?(?:go:build|\+build)\s([^\n]{1,200})$/m.exec(text.slice(0, 5_000))?.[1];
  return tag !== undefined && (tag.match(/[\w.]+/g) ?? []).some((word) => !PLATFORM.test(word));
}

/** Systems on which hardly anybody runs the tests of every project. */
const OTHER_PLATFORM =
  /_(?:windows|plan9|solaris|illumos|aix|dragonfly|freebsd|netbsd|openbsd|android|ios|js|wasip1)(?:_(?:386|amd64|arm|arm64|wasm|s390x|ppc64|ppc64le|riscv64|mips\w{0,4}))?_test\.go$/;

/** What Maven's plugins for tests look for. */
const COLLECTED = /^(?:Test|IT)[^/]*\.java$|(?:Tests?|TestCase|IT|ITCase|Specs?)\.java$/;
