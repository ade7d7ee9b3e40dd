/** What went wrong in the world outside; `main` turns it into one sentence and this exit code. */
const EXIT_CODES = {
  usage: 64,
  config: 64,
  "no-repository": 64,
  "no-agent": 64,
  /** Agents are to run in a sandbox that cannot be made here. */
  "no-sandbox": 64,
  "no-tasks": 64,
  "bad-tasks": 64,
  "dirty-tree": 64,
  "already-running": 64,
  "state-unusable": 64,
  /** The database that machines share, or the remote, does not answer. */
  unreachable: 5,
  /** Somebody else has taken over what this process was working on. */
  "lease-lost": 5,
  "not-writable": 64,
  "disk-full": 5,
  "no-git": 64,
  "git-failed": 5,
  internal: 70,
} as const;

export type ErrorCode = keyof typeof EXIT_CODES;

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

export function exitCodeOf(code: ErrorCode): number {
  return EXIT_CODES[code];
}
