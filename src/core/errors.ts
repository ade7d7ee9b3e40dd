/** What went wrong in the world outside; `main` turns it into one sentence and an exit code. */
export type ErrorCode =
  | "usage"
  | "config"
  | "no-repository"
  | "no-agent"
  /** Agents are to run in a sandbox that cannot be made here. */
  | "no-sandbox"
  | "no-tasks"
  | "bad-tasks"
  | "dirty-tree"
  | "already-running"
  | "state-unusable"
  /** The database that machines share, or the remote, does not answer. */
  | "unreachable"
  /** Somebody else has taken over what this process was working on. */
  | "lease-lost"
  | "not-writable"
  | "disk-full"
  | "no-git"
  | "git-failed"
  | "internal";

export class RalphError extends Error {
  readonly code: ErrorCode;
  /** What the person can type or do about it. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "RalphError";
    this.code = code;
    this.hint = options.hint;
  }
}

/** The error with its hint, for places that hold one sentence. */
export function withHint({ message, hint }: RalphError): string {
  return hint === undefined ? message : `${message}; ${hint}`;
}

const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  usage: 64,
  config: 64,
  "no-repository": 64,
  "no-agent": 64,
  "no-sandbox": 64,
  "no-tasks": 64,
  "bad-tasks": 64,
  "dirty-tree": 64,
  "already-running": 64,
  "state-unusable": 64,
  unreachable: 5,
  "lease-lost": 5,
  "not-writable": 64,
  "disk-full": 5,
  "no-git": 64,
  "git-failed": 5,
  internal: 70,
};

export function exitCodeOf(code: ErrorCode): number {
  return EXIT_CODES[code];
}
