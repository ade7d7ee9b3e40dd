import { RalphError } from "../../core/ralph-error.ts";

/** Whether the server could not be reached or sent us away for now; the same may well succeed later. */
export function isConnectionTrouble(error: unknown): boolean {
  if (error instanceof RalphError) return error.code === "unreachable";
  return SERVER_AWAY.test(codeOf(error)) || LOST.test(messageOf(error));
}

/** Two transactions were in each other's way; one of them has to try again, and may at once. */
export function isClash(error: unknown): boolean {
  return /^40(001|P01)$/.test(codeOf(error));
}

/** What the database refused, in words that a person can act on. */
export function databaseError(error: unknown, name: string): Error {
  if (error instanceof RalphError) return error;
  const code = codeOf(error);
  const refusal = REFUSALS.find(({ codes }) => codes.test(code) || codes.test(messageOf(error)));
  if (refusal === undefined) return error instanceof Error ? error : new Error(String(error));
  const message = `the database ${name} ${refusal.says} (${messageOf(error)})`;
  return new RalphError(refusal.code, message, { hint: refusal.hint, cause: error });
}

export function unreachable(error: unknown, name: string): RalphError {
  return new RalphError("unreachable", `the database ${name} cannot be reached: ${messageOf(error)}`, {
    hint: "see whether it runs and whether [queue] url is right; nothing that was recorded is lost",
    cause: error,
  });
}

/** One line; errors of several addresses of a host are one error. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) {
    const each = new Set(error.errors.map((one) => messageOf(one)));
    if (each.size > 0) return [...each].join(", ");
  }
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").trim();
}

/**
 * By SQLSTATE: connection exceptions, shut down or starting (57P), too many connections (53300), a standby that only
 * reads (25006), a transaction that idled too long (25P03). By Node: what sockets and names can go through.
 */
const SERVER_AWAY =
  /^(08...|57P0[1235]|53300|25006|25P03|E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|(HOST|NET)(UNREACH|DOWN)|NOTFOUND|AI_AGAIN|ADDRNOTAVAIL|NOENT))$/;

/** What the driver says without a code. */
const LOST =
  /^(Connection terminated|timeout expired|Client (has encountered a connection error|was closed)|There was an error establishing an SSL|no answer within)/;

interface Refusal {
  readonly codes: RegExp;
  readonly code: "config" | "state-unusable" | "disk-full";
  readonly says: string;
  readonly hint: string;
}

const REFUSALS: readonly Refusal[] = [
  {
    codes: /^(28...)$|^SASL/,
    code: "config",
    says: "does not let us in",
    hint: "check user, password and sslmode in [queue] url; the password may also be in PGPASSWORD",
  },
  {
    codes: /^3D000$/,
    code: "config",
    says: "does not exist",
    hint: "create it, or name another one in [queue] url",
  },
  {
    codes: /^(.*CERT.*|UNABLE_TO_.*|ERR_TLS.*|ERR_SSL.*|EPROTO|The server does not support SSL.*)$/,
    code: "config",
    says: "cannot be reached by TLS as it was asked for",
    hint: "check sslmode and sslrootcert in [queue] url",
  },
  {
    codes: /^(42501)$/,
    code: "state-unusable",
    says: "does not give us the rights that we need",
    hint: "let the owner of the database run ralph submit once, then grant the worker's role its rights on the schemas ralph and ralph_jobs",
  },
  {
    codes: /^(53100|53200)$/,
    code: "disk-full",
    says: "has no space left; nothing that was recorded is lost",
    hint: "free some space on the database's machine, then start ralph again",
  },
  {
    codes: /^(XX00[12]|57P04|42P01|3F000)$/,
    code: "state-unusable",
    says: "cannot be used",
    hint: "look at the log of the database",
  },
];

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
