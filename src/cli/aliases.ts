/** Words that other loops of this kind use, and what they are here. They count as the first word only. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  "ralph-status": ["status", "--loops"],
  "ralph-cancel": ["cancel"],
  "--status": ["status"],
  "--reset": ["reset"],
  "--reset-circuit": ["reset", "--circuit"],
  "--monitor": ["run", "--monitor"],
  "--roadmap": ["run", "--roadmap"],
};

/** Options that may stand before the first word, with the number of words that they take. */
const COMMON_OPTIONS: Readonly<Record<string, number>> = { "--dir": 2, "--verbose": 1 };

/** The command line with our own words in it. */
export function withoutAliases(argv: readonly string[]): readonly string[] {
  const first = firstWord(argv);
  const [word = "", ...value] = (argv[first] ?? "").split(/(?==)/);
  const meant = Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined;
  if (meant === undefined) return argv;
  // `--roadmap=plan.md` keeps its value.
  const last = [meant.at(-1), ...value].join("");
  return [...argv.slice(0, first), ...meant.slice(0, -1), last, ...argv.slice(first + 1)];
}

function firstWord(argv: readonly string[]): number {
  let at = 0;
  for (;;) {
    const word = argv[at] ?? "";
    const taken = word.startsWith("--dir=") ? 1 : COMMON_OPTIONS[word];
    if (taken === undefined) return at;
    at += taken;
  }
}
