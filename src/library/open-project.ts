import type { Project, ProjectOptions } from "./project.ts";

/** Opens the repository around a folder. What a person may do is done as by command: it is recorded, and a run hears of it. */
export async function openProject(options: ProjectOptions = {}): Promise<Project> {
  const { openedProject } = await import("./opened-project.ts");
  return openedProject(options);
}
