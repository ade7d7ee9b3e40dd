import { closest } from "../closest.ts";

/** What a template may say in `{{…}}`; the first ten are whole sections, empty when there is nothing to say. */
export const TEMPLATE_VARIABLES = [
  "task_information",
  "specification",
  "stage_work",
  "success_criteria",
  "notes",
  "decision",
  "feedback",
  "required_evidence",
  "completion_requirements",
  "asking_for_help",
  "task_id",
  "title",
  "description",
  "stage",
  "iteration",
  "max_iterations",
  "promise",
] as const;

export type TemplateVariable = (typeof TEMPLATE_VARIABLES)[number];

/** The built-in prompt: every section, in its fixed order. */
export const BUILD_TEMPLATE = `{{task_information}}

{{specification}}

{{stage_work}}

{{success_criteria}}

{{notes}}

{{decision}}

{{feedback}}

{{required_evidence}}

{{completion_requirements}}

{{asking_for_help}}
`;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Puts the values in; a section that is empty leaves no gap. Text inside values is never looked at again. */
export function renderTemplate(template: string, values: Readonly<Record<TemplateVariable, string>>): string {
  const filled = template.replaceAll(
    PLACEHOLDER,
    (_, name: string) => values[name as TemplateVariable] ?? "",
  );
  return `${filled.replaceAll(/\n{3,}/g, "\n\n").trim()}\n`;
}

export function hasPlaceFor(template: string, name: TemplateVariable): boolean {
  return [...template.matchAll(PLACEHOLDER)].some((match) => match[1] === name);
}

/** What is wrong with a template: the line, and the sentence that mends it. */
export function templateProblem(
  template: string,
): { readonly line: number; readonly message: string } | null {
  const known: readonly string[] = TEMPLATE_VARIABLES;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const name = match[1] ?? "";
    if (known.includes(name)) continue;
    const line = template.slice(0, match.index).split("\n").length;
    const meant = closest(name, known);
    const hint = meant === null ? `known: ${known.join(", ")}` : `did you mean {{${meant}}}?`;
    return { line, message: `unknown variable {{${name}}}; ${hint}` };
  }
  return null;
}
