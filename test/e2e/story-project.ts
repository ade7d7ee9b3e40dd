import { createProject, type Finished, type Project, type Steps } from "./project.ts";

export interface StoryFields {
  readonly id: string;
  readonly passes?: boolean;
  readonly reviewStatus?: string | null;
  readonly reviewCount?: number;
  readonly reviewFeedback?: string;
  readonly notes?: string;
  readonly priority?: number;
  readonly dependsOn?: readonly string[];
}

/** Written by hand, as people do, in a manner of its own. */
export function fileOf(...stories: readonly StoryFields[]): string {
  const lines = stories.map(({ id, ...more }) => {
    const fields = { id, title: `Make ${id}`, passes: false, reviewStatus: null, reviewCount: 0, ...more };
    return `      ${JSON.stringify(fields).replaceAll('":', '" : ')}`;
  });
  return `{ "project": "P",\n  "userStories":\n  [\n${lines.join(",\n")}\n  ]}\n`;
}

/** A project whose demo agent does one list of steps after the other. */
export interface StoryProject extends Project {
  work(...flags: readonly string[]): Promise<Finished>;
  stories(): readonly StoryFields[];
  /** Task, mode and verdict of every iteration. */
  modes(): Promise<readonly string[]>;
}

export function storyProject(file: string, script: readonly Steps[], config = ""): StoryProject {
  const project = createProject({
    config: `agent = "demo"\n${config}\n[agents.demo]\nscript = ".ralph/script.json"\n`,
  });
  project.write("tasks.json", file);
  project.write(".ralph/script.json", JSON.stringify({ iterations: script }));
  project.commit("stories");
  return {
    ...project,
    work: (...flags) => project.ralph("run", "--source", "tasks.json", ...flags),
    stories: () => (JSON.parse(project.read("tasks.json")) as { userStories: StoryFields[] }).userStories,
    async modes() {
      const { stdout } = await project.ralph("history", "--json");
      const rows = JSON.parse(stdout) as { task: string; stage: string; verdict: string }[];
      return rows.map(({ task, stage, verdict }) => `${task} ${stage} ${verdict}`);
    },
  };
}

export const shell = (command: string): Steps[number] => ({ shell: command });
export const IMPLEMENTS: Steps = [shell("echo 1 > work.txt"), { promise: "COMPLETE" }];
export const FIXES: Steps = [shell("echo 2 > work.txt"), { promise: "COMPLETE" }];
export const OBJECTS: Steps = [{ promise: "CHANGES_REQUESTED:work.txt says 1, it must say 2" }];
export const APPROVES: Steps = [{ say: "It does what it should." }, { promise: "APPROVED" }];

export const INIT = { id: "US-1" };
export const WAITING = { id: "US-1", reviewStatus: "needs_review", reviewCount: 1 };
