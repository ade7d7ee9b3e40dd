/** Follows a Markdown text line by line and tells what stands inside a fenced code block. */
export interface FenceTracker {
  /** Whether this line opens, closes or lies inside a fence. An unclosed fence runs to the end. */
  isFenced(line: string): boolean;
  /** Whether the next line lies inside a fence. */
  isOpen(): boolean;
}

export function createFenceTracker(): FenceTracker {
  let open: string | null = null;
  return {
    isFenced(line) {
      const fence = FENCE.exec(line);
      if (open === null) {
        if (fence === null || isInlineCode(fence)) return false;
        open = fence[1] ?? null;
        return true;
      }
      if (fence !== null && closes(fence, open)) open = null;
      return true;
    },
    isOpen: () => open !== null,
  };
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

function isInlineCode([, marks, rest]: RegExpExecArray): boolean {
  return marks?.startsWith("`") === true && rest?.includes("`") === true;
}

function closes([, marks = "", rest = ""]: RegExpExecArray, open: string): boolean {
  return marks[0] === open[0] && marks.length >= open.length && rest.trim() === "";
}
