/** A part of a transcript of any size. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** Of the whole transcript, in bytes. */
  readonly size: number;
  readonly text: string;
}

/** So much of a transcript is in memory at a time. */
export const PIECE_BYTES = 256 * 1024;
