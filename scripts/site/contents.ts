import { existsSync, globSync } from "node:fs";
import { join } from "node:path";

export interface Group {
  readonly name: string;
  readonly summary: string;
  /** Its Markdown files, in their order. */
  readonly files: readonly string[];
}

interface Plan {
  readonly name: string;
  readonly summary: string;
  /** Those whose order matters, first. */
  readonly first: readonly string[];
  /** Whatever else belongs here, by name. */
  readonly others: string | null;
}

const PLANS: readonly Plan[] = [
  {
    name: "Start",
    summary: "A first run in a minute, then one with your own agent.",
    first: ["docs/guide/getting-started.md", "README.md", "docs/concepts.md"],
    others: null,
  },
  {
    name: "Guides by task",
    summary: "What you want to do, step by step.",
    first: [
      "docs/guide/leave-it-running-overnight.md",
      "docs/guide/stop-it-from-wasting-money.md",
      "docs/guide/troubleshooting.md",
      "docs/guide/people.md",
      "docs/guide/stages.md",
      "docs/guide/from-one-machine-to-ten.md",
      "docs/guide/ci.md",
      "docs/guide/coming-from.md",
    ],
    others: null,
  },
  {
    name: "Guides by topic",
    summary: "Everything about one part: agents, tasks, gates, brakes, lanes.",
    first: [
      "docs/guide/agents.md",
      "docs/guide/task-sources.md",
      "docs/guide/planning.md",
      "docs/guide/prompt-anatomy.md",
      "docs/guide/gates.md",
      "docs/guide/verdicts.md",
      "docs/guide/verify.md",
      "docs/guide/interventions.md",
      "docs/guide/brakes.md",
      "docs/guide/notifications.md",
      "docs/guide/screens.md",
      "docs/guide/parallel.md",
      "docs/guide/sandbox.md",
      "docs/guide/several-machines.md",
    ],
    others: "docs/guide/**/*.md",
  },
  {
    name: "In short",
    summary: "What ralph help prints, a topic a page.",
    first: ["docs/help/getting-started.md"],
    others: "docs/help/*.md",
  },
  {
    name: "Concepts",
    summary: "How it is built, what it promises, and what was tried to break it.",
    first: ["ARCHITECTURE.md", "GLOSSARY.md", "SECURITY.md"],
    others: "docs/*.md",
  },
  {
    name: "Extending",
    summary: "Plugins, and the library for programs of your own.",
    first: ["docs/extending/README.md", "docs/extending/library.md", "docs/extending/plugins.md"],
    others: "docs/extending/**/*.md",
  },
  {
    name: "Reference",
    summary: "Every command, every key, every type. Made from the program itself.",
    first: ["docs/reference/commands.md", "docs/reference/configuration.md"],
    others: "docs/reference/**/*.md",
  },
  {
    name: "Decisions",
    summary: "Why it is so, and what would change our mind.",
    first: ["docs/adr/README.md"],
    others: "docs/adr/**/*.md",
  },
  {
    name: "Project",
    summary: "How to take part.",
    first: ["CONTRIBUTING.md", "CHANGELOG.md", "examples/journeys/README.md", "examples/plugins/README.md"],
    others: null,
  },
];

/** The side bar: every page of the documentation in exactly one group. */
export function contentsOf(root: string): readonly Group[] {
  const placed = new Set(PLANS.flatMap(({ first }) => first));
  return PLANS.map(({ name, summary, first, others }) => {
    const there = first.filter((file) => existsSync(join(root, file)));
    const more = others === null ? [] : globSync(others, { cwd: root }).toSorted();
    const files = [...there, ...more.filter((file) => !placed.has(file))];
    for (const file of files) placed.add(file);
    return { name, summary, files };
  });
}
