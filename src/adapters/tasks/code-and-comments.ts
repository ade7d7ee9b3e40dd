import type { Line } from "./scan-lines.ts";

/** Lines that are taken as they are. */
export interface Block {
  readonly is: "code" | "comment";
  /** Of the list item it stands in; code ends with its item, a comment where it is closed. */
  readonly column: number;
  readonly isOneLine: boolean;
  readonly isEnd: (line: Line) => boolean;
}

/** A code fence or a comment that begins here. */
export function openBlock(content: string, column: number): Block | null {
  if (content.startsWith("<!--")) {
    const isEnd = (line: Line): boolean => line.content.includes("-->");
    return { is: "comment", column, isOneLine: content.includes("-->", 2), isEnd };
  }
  const fence = /^(?:(`{3,})[^`]*|(~{3,})[^]*)$/.exec(content);
  const marks = fence?.[1] ?? fence?.[2];
  if (marks === undefined) return null;
  return { is: "code", column, isOneLine: false, isEnd: (line) => isClosing(line, marks, column) };
}

function isClosing({ content, indent }: Line, marks: string, column: number): boolean {
  const closing = /^(`+|~+)[ \t]*$/.exec(content)?.[1];
  return (
    closing !== undefined && closing[0] === marks[0] && closing.length >= marks.length && indent - column < 4
  );
}
