import { constants } from "node:os";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { RalphError } from "../../core/errors.ts";
import { storeError } from "./store-error.ts";

test("a full disk is named with its place, and nothing recorded is lost", () => {
  const db = new Database(":memory:");
  db.exec("CREATE TABLE notes (text)");
  db.pragma("max_page_count = 3");
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  const error = caught(() => insert.run("x".repeat(100_000)));
  expect(storeError(error, "/repo/state.db")).toMatchObject({
    code: "disk-full",
    message: "no space left to write /repo/state.db; nothing that was recorded is lost",
    hint: "free some space on the disk of /repo, then start ralph again",
    cause: error,
  });
});

test.each(["ENOSPC", "EDQUOT", `Unknown system error -${constants.errno.EDQUOT}`, "SQLITE_FULL"])(
  "%s is a full disk",
  (code) => {
    expect(storeError(coded(code), "/x")).toMatchObject({ code: "disk-full" });
  },
);

test.each(["EACCES", "EROFS", "SQLITE_READONLY_DIRECTORY", "SQLITE_CANTOPEN"])(
  "%s is not writable",
  (code) => {
    expect(storeError(coded(code), "/x")).toMatchObject({ code: "not-writable" });
  },
);

test("any other word of SQLite makes the state unusable", () => {
  expect(storeError(coded("SQLITE_IOERR_READ"), "/tmp/x")).toMatchObject({ code: "state-unusable" });
});

test("an error of ours and a bug stay what they are", () => {
  const ours = new RalphError("usage", "no");
  const bug = new TypeError("undefined is not a function");
  expect(storeError(ours, "/x")).toBe(ours);
  expect(storeError(bug, "/x")).toBe(bug);
});

function coded(code: string): Error {
  return Object.assign(new Error(`${code} happened`), { code });
}

function caught(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
