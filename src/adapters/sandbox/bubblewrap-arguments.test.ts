import { expect, test } from "vitest";
import { bubblewrapArguments, type View } from "./bubblewrap-arguments.ts";

const VIEW: View = { places: [], cwd: "/repo", network: "on", user: null };

/** From one argument on, so many. */
function from(args: readonly string[], first: string, count: number): readonly string[] {
  const index = args.indexOf(first);
  return index === -1 ? [] : args.slice(index, index + count);
}

test("each place becomes what makes it", () => {
  const args = bubblewrapArguments({
    ...VIEW,
    places: [
      { is: "shown", path: "/etc/passwd", from: "/state/passwd" },
      { is: "writable", path: "/home/me", from: "/state/home" },
      { is: "link", path: "/bin", to: "usr/bin" },
      { is: "empty", path: "/repo/.git/ralph" },
      { is: "hidden", path: "/etc/shadow" },
      { is: "temporary", path: "/tmp" },
    ],
  });
  expect(args.slice(args.indexOf("/dev") + 1).join(" ")).toBe(
    [
      "--ro-bind /state/passwd /etc/passwd",
      "--bind /state/home /home/me",
      "--symlink usr/bin /bin",
      "--tmpfs /repo/.git/ralph",
      "--ro-bind /dev/null /etc/shadow",
      "--perms 1777 --tmpfs /tmp",
      "--remount-ro / --remount-ro /repo/.git/ralph --chdir /repo --",
    ].join(" "),
  );
});

test("nothing survives, and processes outside are not seen", () => {
  expect(bubblewrapArguments(VIEW)).toEqual(
    expect.arrayContaining(["--die-with-parent", "--unshare-pid", "--unshare-user", "--unshare-ipc"]),
  );
});

test("the network is shared unless it is off", () => {
  expect(bubblewrapArguments(VIEW)).not.toContain("--unshare-net");
  expect(bubblewrapArguments({ ...VIEW, network: "off" })).toContain("--unshare-net");
});

test("root is somebody else inside", () => {
  expect(bubblewrapArguments(VIEW)).not.toContain("--uid");
  const args = bubblewrapArguments({ ...VIEW, user: { uid: 1000, gid: 1001 } });
  expect(from(args, "--uid", 4)).toEqual(["--uid", "1000", "--gid", "1001"]);
});
