import type { Place } from "./place.ts";

/** All that an agent sees of the machine, and who it is there. */
export interface View {
  /** As `arrange` orders them. */
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly network: "on" | "off";
  /** Null: the same as outside. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

/** What goes between `bwrap` and the command that it is to start. */
export function bubblewrapArguments({ places, cwd, network, user }: View): readonly string[] {
  return [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(network === "off" ? ["--unshare-net"] : []),
    ...(user === null ? [] : ["--uid", String(user.uid), "--gid", String(user.gid)]),
    // Nothing survives us, and nothing survives the agent: the last process of the namespace takes all others along.
    "--die-with-parent",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...places.flatMap(argumentsFor),
    // Folders in memory, and the one that holds all together; by now everything has its place in them.
    ...["/", ...places.filter(({ is }) => is === "empty").map(({ path }) => path)].flatMap((path) => [
      "--remount-ro",
      path,
    ]),
    "--chdir",
    cwd,
    "--",
  ];
}

function argumentsFor(place: Place): readonly string[] {
  switch (place.is) {
    case "shown":
      return ["--ro-bind", place.from, place.path];
    case "writable":
      return ["--bind", place.from, place.path];
    case "link":
      return ["--symlink", place.to, place.path];
    case "empty":
      return ["--tmpfs", place.path];
    case "hidden":
      return ["--ro-bind", "/dev/null", place.path];
    case "temporary":
      return ["--perms", "1777", "--tmpfs", place.path];
  }
}
