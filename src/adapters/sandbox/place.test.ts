import { expect, test } from "vitest";
import { arrange, isInside, shown, writable, type Place } from "./place.ts";

function paths(places: readonly Place[]): readonly string[] {
  return arrange(places).map(({ path }) => path);
}

test("a folder comes before what is in it, in whatever order they are named", () => {
  const places = [shown("/home/me/repo/.git/config"), writable("/home/me/repo"), writable("/home/me")];
  expect(paths(places)).toEqual(["/home/me", "/home/me/repo", "/home/me/repo/.git/config"]);
});

test("of two for the same path the last counts", () => {
  expect(arrange([shown("/a"), writable("/a")])).toEqual([writable("/a")]);
});

test("what is shown with its folder need not be shown again", () => {
  expect(paths([shown("/usr"), shown("/usr/lib/node")])).toEqual(["/usr"]);
});

test("what is shown inside of something else stays", () => {
  const moved: Place = { is: "shown", path: "/etc/passwd", from: "/state/passwd" };
  expect(paths([shown("/etc"), moved])).toEqual(["/etc", "/etc/passwd"]);
  expect(paths([writable("/repo"), shown("/repo/config")])).toEqual(["/repo", "/repo/config"]);
  const between: readonly Place[] = [shown("/opt"), { is: "temporary", path: "/opt/x" }, shown("/opt/x/y")];
  expect(paths(between)).toEqual(["/opt", "/opt/x", "/opt/x/y"]);
});

test.each([
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/", true],
])("%s is in %s: %s", (path, folder, is) => {
  expect(isInside(path, folder)).toBe(is);
});
