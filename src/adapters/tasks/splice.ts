export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The file with one part of it replaced. */
export function splice(file: Buffer, { start, end, text }: Edit): Buffer {
  return Buffer.concat([file.subarray(0, start), Buffer.from(text), file.subarray(end)]);
}
