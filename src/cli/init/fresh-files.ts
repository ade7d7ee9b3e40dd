import type { SourceKind } from "../../core/plan/task.ts";
import { SOURCE_TEMPLATES } from "./templates.ts";

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
      return SOURCE_TEMPLATES.checklist.text;
    case "requirements":
      return "# Requirements\n\nWhat is wanted, for whom, and how one sees that it is there.\n";
    case "notes":
      return "";
    case "letter":
      return null;
  }
}

function freshSource(kind: SourceKind, old: string): string {
  switch (kind) {
    case "roadmap":
      return SOURCE_TEMPLATES.roadmap.text;
    case "tasks-json":
      return emptyStories(old);
    case "prompt":
      return SOURCE_TEMPLATES.prompt.text;
    case "checklist":
    case "goal":
      return SOURCE_TEMPLATES.checklist.text;
  }
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
