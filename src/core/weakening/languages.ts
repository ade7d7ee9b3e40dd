import { go } from "./go.ts";
import { csharp, java, php } from "./java.ts";
import { javascript } from "./javascript.ts";
import type { Language } from "./language.ts";
import { bats, cpp, dart, elixir, gherkin, swift } from "./more-languages.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { rust } from "./rust.ts";

export function languageOf(path: string): Language | null {
  return BY_EXTENSION.find(([extension]) => extension.test(path))?.[1] ?? null;
}

const BY_EXTENSION: readonly (readonly [RegExp, Language])[] = [
  [/\.[cm]?[jt]sx?$/, javascript],
  [/\.py$/, python],
  [/\.go$/, go],
  [/\.rs$/, rust],
  [/\.(?:java|kt|kts)$/, java],
  [/\.cs$/, csharp],
  [/\.php$/, php],
  [/\.rb$/, ruby],
  [/\.(?:cc|cpp|cxx)$/, cpp],
  [/\.swift$/, swift],
  [/\.exs$/, elixir],
  [/\.dart$/, dart],
  [/\.bats$/, bats],
  [/\.feature$/, gherkin],
];
