import type { FeedbackItem } from "../interventions/intervention.ts";

const LENGTH_MAX = 4_000;
/** Below this an output says nothing. */
const OUTPUT_MIN = 200;
const HEADING = "## Previous Iteration Feedback (DO NOT IGNORE)";

/**
 * What the next prompt says of the iterations before. Each message comes once, the most useful first; when room
 * is short, outputs lose their beginnings first, then the last messages go.
 */
export function feedbackSection(feedback: readonly FeedbackItem[]): string {
  if (feedback.length === 0) return "";
  const outputs = feedback.filter(({ output }) => hasWords(output));
  const words = feedback.reduce((sum, { text }) => sum + text.length + 8, HEADING.length + 80);
  const perOutput = Math.max(OUTPUT_MIN, Math.floor((LENGTH_MAX - words) / Math.max(1, outputs.length)));
  const items = feedback.map((item) => itemText(item, perOutput));
  const shown: string[] = [];
  let length = HEADING.length;
  for (const item of items) {
    if (shown.length > 0 && length + item.length > LENGTH_MAX - 60) break;
    shown.push(item);
    length += item.length + 1;
  }
  const rest = items.length - shown.length;
  const more = rest === 0 ? [] : [`- … and ${rest} more of the kind.`];
  return [HEADING, ...shown, ...more].join("\n").slice(0, LENGTH_MAX);
}

function itemText({ text, output }: FeedbackItem, outputLength: number): string {
  const said = `- ${text.replaceAll("\n", "\n  ")}`;
  if (!hasWords(output)) return said;
  const lines = lastLines(output, outputLength).split("\n");
  return [said, "", ...lines.map((line) => `      ${line}`), ""].join("\n");
}

/** Whole lines, as many of the last as fit together with their indentation. */
function lastLines(output: string, length: number): string {
  const lines = output.trimEnd().split("\n");
  const kept: string[] = [];
  let room = length;
  for (const line of lines.toReversed()) {
    room -= line.length + 7;
    if (room < 0 && kept.length > 0) break;
    kept.unshift(line.length > length ? `…${line.slice(-length)}` : line);
  }
  return kept.join("\n");
}

function hasWords(output: string | undefined): output is string {
  return output !== undefined && output.trim() !== "";
}
