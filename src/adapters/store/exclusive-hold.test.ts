import { expect, test } from "vitest";
import { nativeError, openSqlite } from "./exclusive-hold.ts";

test.each(["MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"])(
  "%s: the machine has no binary of SQLite, and the sentence says what to do",
  (code) => {
    const cause = Object.assign(new Error("Cannot find module"), { code });
    expect(nativeError(cause)).toMatchObject({
      code: "state-unusable",
      message: expect.stringContaining("has no binary that works here") as string,
      hint: expect.stringContaining("npx node-gyp rebuild") as string,
      cause,
    });
  },
);

test("what SQLite itself says stays as it is", () => {
  expect(() => openSqlite("/nowhere/at/all.db", { fileMustExist: true })).toThrow(
    "Cannot open database because the directory does not exist",
  );
});

test("a binary that does not load is passed over", () => {
  const db = openSqlite(":memory:", {}, "/nowhere/linux-x64.node");
  expect(db.prepare("SELECT 1 AS one").get()).toEqual({ one: 1 });
  db.close();
});
