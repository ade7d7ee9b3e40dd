import type { Git, GitResult } from "../git/git.ts";

export interface FastForward {
  readonly branch: string;
  readonly to: string;
  readonly identity: readonly string[];
}

/** Moves a checkout and its branch. Git looks at everything first, and refuses before it has touched a file. */
export function fastForward(git: Git, { branch, to, identity }: FastForward): Promise<GitResult> {
  const settings = [
    ...identity,
    // What the operator has set for merges of this branch could make another strategy of it.
    `--config-env=branch.${branch}.mergeOptions=${EMPTY}`,
    "-c",
    "submodule.recurse=false",
  ];
  return git.run([...settings, "merge", ...ONLY_FORWARD, to], { env: { [EMPTY]: "" } });
}

/** What git names in its refusal. */
export function refusedPaths({ stderr }: GitResult): readonly string[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("\t"))
    .map((line) => line.slice(1))
    .toSorted();
}

const EMPTY = "RALPH_EMPTY";
const ONLY_FORWARD = [
  "--quiet",
  "--ff-only",
  "--no-squash",
  "--commit",
  "--no-stat",
  "--no-autostash",
  "--no-verify-signatures",
  "--no-overwrite-ignore",
];
