import { expect, test } from "vitest";
import { workingFolderListing } from "./working-folder-listing.ts";

test("on macOS lsof tells in which folders a program works", () => {
  const listing = workingFolderListing("darwin", "git");
  expect(listing?.command).toEqual(["lsof", "-a", "-c", "git", "-d", "cwd", "-Fn"]);
  expect(listing?.read("p812\nfcwd\nn/Users/a/shop\np901\nfcwd\nn/Users/a/my site\n")).toEqual([
    "/Users/a/shop",
    "/Users/a/my site",
  ]);
  expect(listing?.read("")).toEqual([]);
});

test("on Windows nobody tells", () => {
  expect(workingFolderListing("win32", "git")).toBeNull();
});
