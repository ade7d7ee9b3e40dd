/** One hook of ours, as an agent's settings have it. */
export interface WantedHook {
  /** Such as `Stop`. */
  readonly event: string;
  /** What is added to the event's list. */
  readonly entry: HookEntry;
}

interface HookEntry {
  readonly matcher?: string;
  readonly hooks: readonly HookCall[];
}

interface HookCall {
  readonly command: string;
  readonly [more: string]: unknown;
}

/** All of ours for Claude Code; `ralph` is how a shell calls us. */
export function claudeHooks(ralph: string): readonly WantedHook[] {
  const call = (hook: string): HookCall => ({ type: "command", command: `${ralph} hook ${hook}` });
  return [
    { event: "Stop", entry: { hooks: [call("stop")] } },
    { event: "PostToolUse", entry: { matcher: "*", hooks: [call("post-tool-use")] } },
  ];
}

/** Whether a command calls the same hook as ours, wherever ralph lies. */
export function callsSameHook(command: string, ours: string): boolean {
  const hook = /hook [\w-]+$/.exec(ours)?.[0] ?? ours;
  const call = /(?:^|[\s"'/\\])ralph(?:\.cmd)?["']? +(hook [\w-]+)/.exec(command)?.[1];
  return command === ours || call === hook;
}

/** A text that a shell takes for one word. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
