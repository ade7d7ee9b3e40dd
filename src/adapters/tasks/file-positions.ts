export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Says line and column of a byte in the file, from one, as editors count them. */
export function createPositions(file: Buffer): (offset: number) => Position {
  const starts = lineStarts(file);
  return (offset) => {
    const line = countUpTo(starts, offset);
    const before = file.subarray(starts[line - 1], offset).toString("utf8");
    return { line, column: Array.from(before).length + 1 };
  };
}

function lineStarts(file: Buffer): readonly number[] {
  const text = file.toString("latin1");
  const starts = [text.startsWith("\xEF\xBB\xBF") ? 3 : 0];
  for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + ending.length);
  return starts;
}

/** How many of the ascending numbers are at most so large. */
function countUpTo(numbers: readonly number[], largest: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((numbers[middle] ?? 0) <= largest) low = middle + 1;
    else high = middle;
  }
  return low;
}
