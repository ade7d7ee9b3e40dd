/** A part of a test file that means something for what runs. */
export interface Block {
  /** "helper": a function that is no test. "dead": code that never runs. "swallowed": its failures go unnoticed. */
  readonly kind: "test" | "suite" | "helper" | "loop" | "dead" | "swallowed";
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly body: { readonly from: number; readonly to: number } | null;
  readonly skip: Skip | null;
  readonly isFocused: boolean;
}

/** "failing": it runs, and is expected to fail. "conditional": it runs where something holds that is not always so. */
export type Skip = "skipped" | "failing" | "conditional";
