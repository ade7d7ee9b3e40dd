/** What `ralph init` can begin a project with: a kind of task source, or requirements to make one of. */
export type TemplateKind = keyof typeof TEMPLATES;

interface Template {
  readonly path: string;
  /** Whether the path lies below `.ralph/`, or below the root. */
  readonly isOurs: boolean;
  /** A small example; without a name it says what it is and no more. */
  readonly text: (name: string | null) => string;
}

/** One small example of each kind. */
export const TEMPLATES = {
  checklist: {
    path: "TODO.md",
    isOurs: false,
    text: (name) => `# ${heading(name, "Tasks")}

- [ ] Say hello
  - HELLO.md greets the reader
`,
  },
  roadmap: {
    path: "roadmap.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Roadmap")}

## Phase 1

- [ ] **task-001**: Say hello
  - ralph: true
  - max_iterations: 10
  - success: HELLO.md greets the reader
`,
  },
  tasks: {
    path: "tasks.json",
    isOurs: true,
    text: (name) => `{
  "project": ${JSON.stringify(name ?? "my project")},
  "description": "",
  "verifyCommands": [],
  "userStories": [
    {
      "id": "US-001",
      "title": "Say hello",
      "description": "",
      "acceptanceCriteria": ["HELLO.md greets the reader"],
      "priority": 1,
      "passes": false
    }
  ]
}
`,
  },
  prompt: {
    path: "PROMPT.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Goal")}

Say hello: HELLO.md greets the reader.
`,
  },
  prd: {
    path: "prd.md",
    isOurs: true,
    text: (name) => `# ${heading(name, "Requirements")}

## What is wanted, and for whom

Say hello: whoever opens the repository is greeted.

## How one sees that it is there

- HELLO.md greets the reader

## What it builds on, and what must stay as it is

## What is not wanted

## Questions and answers
`,
  },
} as const satisfies Record<string, Template>;

/** Notes that agents leave for each other; they go into every prompt, so they explain themselves. */
export function notesTemplate(name: string | null): string {
  return `# ${heading(name, "Notes")}

Append what whoever works next has to know (decisions, traps, commands), one short line each.
`;
}

/** The name that a heading made here has; null when it has none, or was not made here. */
export function nameIn(text: string): string | null {
  return /^(?:\uFEFF)?# (.+): (?:tasks|roadmap|goal|requirements|notes)\r?\n/.exec(text)?.[1] ?? null;
}

function heading(name: string | null, what: string): string {
  return name === null ? what : `${name}: ${what.toLowerCase()}`;
}
