const STORIES_MAX = 8;

/** The plan that the demo agent makes without a script: a story for each item of a list in the requirements. */
export function demoPlan(prompt: string): string {
  const requirements = prompt.slice(prompt.lastIndexOf("\n## Requirements ("));
  const items = [...requirements.matchAll(/^[-*] (.+)$/gm)].map(([, text = ""]) => text.trim());
  const wanted = items.length === 0 ? ["Do what the requirements say"] : items.slice(0, STORIES_MAX);
  const userStories = wanted.map((text, at) => ({
    id: `US-${String(at + 1).padStart(3, "0")}`,
    title: text,
    description: "",
    acceptanceCriteria: [text],
    priority: at + 1,
    dependsOn: [],
    passes: false,
  }));
  const plan = { project: "demo", branchName: null, description: "", verifyCommands: [], userStories };
  return `${JSON.stringify(plan, null, 2)}\n`;
}
