import type { FactRecorder } from "../../core/report/streams/stream-facts.ts";

/** Tells a person what an agent's stream says, as it comes: its words, its tools, what went wrong. */
export function narrate(facts: FactRecorder, show: (text: string) => void): FactRecorder {
  const told = new Set<string>();
  let isLineOpen = false;
  let lastSaid = "";
  const line = (text: string): void => {
    show(`${isLineOpen ? "\n" : ""}${text}\n`);
    isLineOpen = false;
  };
  return {
    ...facts,
    says(text, messageId) {
      facts.says(text, messageId);
      // The final result repeats the last message.
      if (text.trim() !== "" && text !== lastSaid) line(text);
      lastSaid = text;
    },
    saysMore(piece, messageId) {
      facts.saysMore(piece, messageId);
      if (piece === "") return;
      show(piece);
      isLineOpen = !piece.endsWith("\n");
    },
    startsTool(tool) {
      facts.startsTool(tool);
      if (told.has(tool.id)) return;
      if (told.size < TOLD_MAX) told.add(tool.id);
      line(`→ ${[tool.name, ...(tool.files ?? [])].join(" ")}`);
    },
    fails(failure) {
      facts.fails(failure);
      line(`✗ ${failure.message}`);
    },
    ends(failure) {
      facts.ends(failure);
      if (isLineOpen) line("");
      if (failure != null) line(`✗ ${failure.message}`);
    },
  };
}

const TOLD_MAX = 10_000;
