/** What a stage is there for, as a section of its prompt; empty for one that writes the code. */
export function stageWork(stage: string, isFirst: boolean): string {
  if (isFirst) return "";
  return `## Your part\n${WORK[stage] ?? OTHER}`;
}

const WORK: Readonly<Record<string, string>> = {
  reviewer: `Another agent has worked on this task. Review what it did with fresh eyes: read the changes (\`git log\`, \`git diff\`), the
specification above, and the code around them. Look for what does not work, is missing, is unsafe, or will not be
understood. Change no files: whatever you change is put back.`,
  tester: `Another agent has worked on this task. Test what it did: run the project's tests, write the tests that are missing,
try what the specification promises. Do not repair the code itself.`,
  qa: `Others have written, reviewed and tested this task. Look at the result as its user would: does it do what the
specification says, from beginning to end? Change no files: whatever you change is put back.`,
};

const OTHER = "Others have worked on this task before you. Do the part that your stage is named after.";

/** How a later stage says what it found. */
export function stageCompletion(stage: string, promise: string): string {
  const words = stage === "reviewer" ? 'write "REVIEW PASSED" with your reasons, and then' : "";
  return `## Completion Requirements
If your part is done and you have nothing against it, ${words === "" ? "" : `${words} `}print this on a line of its own:

<promise>${promise}</promise>

If something has to be changed first, print instead, on a line of its own, everything that is wrong and where:

<promise>CHANGES_REQUESTED:what is wrong</promise>

The task then goes back to the agent that wrote it, with your words. Approve only what you have looked at.`;
}
