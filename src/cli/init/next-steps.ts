/** Whoever works without an agent of their own sees the loop, and no work. */
const PRETENDS =
  "install a coding agent (ralph doctor names them), then: ralph init --force     # demo only pretends to work";

/** What a person works from after `ralph init`: a list of tasks, or requirements without one. */
export interface Beginning {
  readonly is: "tasks" | "prompt" | "requirements";
  readonly path: string;
}

export interface Written {
  /** Files outside of `.ralph/`. */
  readonly toCommit: readonly string[];
  readonly hasAgent: boolean;
  readonly hasGates: boolean;
}

/** The numbered steps that follow from what there is. */
export function nextSteps(
  { is, path }: Beginning,
  { toCommit, hasAgent, hasGates }: Written,
): readonly string[] {
  const steps = [
    ...(hasAgent ? [] : [PRETENDS]),
    ...BEGIN[is](path),
    ...(toCommit.length === 0 ? [] : [`git add ${toCommit.join(" ")} && git commit -m "Hooks for ralph"`]),
    "ralph run --dry-run     # what would be done, and the first prompt",
    "ralph run",
  ];
  const numbered = steps.map((step, at) => `  ${at + 1}. ${step}`);
  const goal = `ralph run "what you want"${hasGates ? "" : ' --check "npm test"'}`;
  return ["", "Next:", ...numbered, `Or one goal without a list: ${goal}`];
}

const BEGIN: Readonly<Record<Beginning["is"], (path: string) => readonly string[]>> = {
  tasks: (path) => [`write your tasks into ${path}`],
  prompt: (path) => [`write your goal into ${path}`],
  requirements: (path) => [
    `write down what is wanted in ${path}`,
    "ralph plan              # the agent makes stories of it, and they are checked",
  ],
};
