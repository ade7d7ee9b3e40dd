/** Agent programs that we know how to start, and whose streams we read. */
export const KNOWN_PROGRAMS = ["claude", "codex", "gemini", "opencode", "copilot"] as const;

export type ProgramFormat = (typeof KNOWN_PROGRAMS)[number];

export function isProgramFormat(name: string): name is ProgramFormat {
  return (KNOWN_PROGRAMS as readonly string[]).includes(name);
}
