import type { SourceKind } from "../../core/plan/task.ts";
import { nameIn, notesTemplate, TEMPLATES } from "./templates.ts";

/** What an archived file leaves in its place, ready for the next list; null: nothing. */
export function freshText(
  role: "tasks" | "checklist" | "requirements" | "notes" | "letter",
  kind: SourceKind,
  old: string,
): string | null {
  switch (role) {
    case "tasks":
      return freshSource(kind, old);
    case "checklist":
      return TEMPLATES.checklist.text(nameIn(old));
    case "requirements":
      return TEMPLATES.prd.text(nameIn(old));
    case "notes":
      return freshNotes(old);
    case "letter":
      return null;
  }
}

function freshSource(kind: SourceKind, old: string): string {
  switch (kind) {
    case "roadmap":
      return TEMPLATES.roadmap.text(nameIn(old));
    case "tasks-json":
      return emptyStories(old);
    case "prompt":
      return TEMPLATES.prompt.text(nameIn(old));
    case "checklist":
    case "goal":
    case "plugin":
      return TEMPLATES.checklist.text(nameIn(old));
    // Of other programs, who have their own way of beginning anew; such lists are not archived.
    case "task-list":
    case "beads":
    case "ralphex":
    case "github":
      return old;
  }
}

/** Notes that began with our own words begin with them again. */
function freshNotes(old: string): string {
  const template = notesTemplate(nameIn(old));
  return old.startsWith(template) ? template : "";
}

/** Name and checks are the project's and stay; branch and stories were the list's. */
function emptyStories(old: string): string {
  const { project, verifyCommands } = objectIn(old);
  const fresh = {
    project: typeof project === "string" ? project : "my project",
    description: "",
    verifyCommands: Array.isArray(verifyCommands) ? (verifyCommands as unknown[]) : [],
    userStories: [],
  };
  return `${JSON.stringify(fresh, null, 2)}\n`;
}

function objectIn(json: string): { readonly project?: unknown; readonly verifyCommands?: unknown } {
  try {
    const value: unknown = JSON.parse(json.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // a file that is no JSON has nothing to hand on
  }
}
