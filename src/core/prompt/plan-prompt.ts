import { CRITERIA_MAX } from "../plan-checks.ts";

export interface PlanPromptParts {
  /** The requirements, and where they stand, as a person knows the file. */
  readonly prd: string;
  readonly prdPath: string;
  /** The file to write. */
  readonly planPath: string;
  /** It holds an older plan. */
  readonly isThere: boolean;
  /** Commands that the operator's configuration runs anyway. */
  readonly gates: readonly string[];
  /** Of the attempt before this one. */
  readonly mistakes: readonly string[];
}

/** What the agent is told that turns requirements into a plan. */
export function planPrompt({ prd, prdPath, planPath, isThere, gates, mistakes }: PlanPromptParts): string {
  const older = isThere ? `\n${planPath} holds an older plan: replace all of it.` : "";
  const refused = `\n## Previous Attempt Feedback (DO NOT IGNORE)
${planPath} was checked and refused. Repair this, and look through the whole file for more of the kind:
${mistakes.map((mistake) => `- ${mistake}`).join("\n")}\n`;
  const known = gates.length === 0 ? "" : ` These run anyway, leave them out: ${gates.join("; ")}.`;
  return `## Task
Turn the requirements in ${prdPath} (below) into a plan: write the file ${planPath}. Look at the project first, so that
the plan fits what is there. Do not carry the plan out: coding agents will, one story at a time, each with a fresh memory
and nothing but its story and the project. Change no other file, ${prdPath} neither, and commit nothing.${older}
${mistakes.length === 0 ? "" : refused}
## The file
${planPath} is JSON of exactly this shape:

${EXAMPLE}

## Rules
- A story is small enough for one agent in one sitting, and useful by itself: one to ${CRITERIA_MAX} acceptance criteria. Split what is
  bigger; leave nothing of the requirements out and add nothing to them.
- An acceptance criterion can be checked by looking or by a command: "the list is sorted by date", not "works well".
- \`dependsOn\` names the ids of stories that must be done first, never in a circle. Order the stories by it, then by
  importance: data and foundations before what is built on them. \`priority\` counts up from 1 in this order.
- Ids are unique and stay: US-001, US-002, …
- \`passes\` is false in every story: nothing is done yet.
- \`verifyCommands\` are commands that this project really has and that must pass after every story; an empty list if there
  is none.${known}
- \`branchName\` is null, unless the requirements name a branch.

## If the requirements do not suffice
Decide small things yourself and write what you assumed into the story's \`notes\`. If a question that changes the plan
remains open, do not guess: ask all such questions at once, and the answers will be added to ${prdPath}:

\`<promise>DECIDE:1. the first question 2. the second question</promise>\`

on a line of its own; and if a plan is impossible for another reason, \`<promise>BLOCKED:the reason</promise>\`.
Otherwise, when the file is written, print \`<promise>PLANNED</promise>\` on a line of its own.

## Requirements (${prdPath})

${prd.trim()}
`;
}

const EXAMPLE = JSON.stringify(
  {
    project: "the project's name",
    branchName: null,
    description: "what all of it is for, in a sentence",
    verifyCommands: ["npm test"],
    userStories: [
      {
        id: "US-001",
        title: "Refuse a wrong password",
        description: "As someone who logs in, I am told that the password is wrong, so that I can try again.",
        acceptanceCriteria: [
          "POST /login with a wrong password answers 401",
          "a test shows it, and npm test passes",
        ],
        priority: 1,
        dependsOn: [],
        notes: "",
        passes: false,
      },
      {
        id: "US-002",
        title: "Lock an account after five wrong passwords",
        description: "…",
        acceptanceCriteria: ["…"],
        priority: 2,
        dependsOn: ["US-001"],
        notes: "",
        passes: false,
      },
    ],
  },
  null,
  2,
);
