import { createHash } from "node:crypto";

/**
 * The queue of a project's tasks that need exactly these labels. Labels and projects may have any name, and names of
 * queues may not.
 */
export function queueOf(project: string, labels: readonly string[]): string {
  return `${short(project)}-${short(JSON.stringify(labels.toSorted()))}`;
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
