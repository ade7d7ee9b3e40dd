import { RalphError } from "../../core/ralph-error.ts";

/** A failed write as one sentence: what, where, what to do. Errors that are not about files come back as they are. */
export function fileError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new RalphError("disk-full", `no space left on the disk while writing ${path}`, {
        hint: "free some space and start ralph again: it goes on where it was, nothing recorded is lost",
        cause: error,
      });
    case "ENOENT":
      return new RalphError("not-writable", `${path} cannot be written: the folder for it does not exist`, {
        hint: "make that folder",
        cause: error,
      });
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return new RalphError("not-writable", `${path} cannot be written (${code})`, {
        hint: "make it writable for this user",
        cause: error,
      });
    case "ENOTDIR":
    case "EISDIR":
    case "ELOOP":
    case "EEXIST":
      return new RalphError(
        "not-writable",
        `${path} cannot be written: something else is in its place (${code})`,
        {
          hint: "move it away",
          cause: error,
        },
      );
    default:
      return error;
  }
}
