import type { Notice } from "../core/notices/notice.ts";

/** One way to reach a person. */
export interface Channel {
  readonly name: ChannelName;
  /** Where it leads, for people, without secrets. */
  readonly shown: string;
  /** Resolves however it ends. An abort means that nobody waits any longer. */
  send(notice: Notice, signal: AbortSignal): Promise<Delivery>;
}

export type ChannelName = "webhook" | "desktop" | "command" | `plugin:${string}`;

export type Delivery =
  | { readonly is: "delivered" }
  /** Trying again would not help. */
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "failed"; readonly why: string; readonly retryAfterMs: number | null };

/** Up to where each channel has had its notices; survives the process. */
export interface Delivered {
  /** Null: nothing is known, as for a channel that is new. */
  read(channel: ChannelName): number | null;
  write(channel: ChannelName, position: number): void;
}
