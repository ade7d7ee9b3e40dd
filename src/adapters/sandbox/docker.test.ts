import { expect, test } from "vitest";
import { type Container, containerName, dockerArguments, removeArguments } from "./docker.ts";

const CONTAINER: Container = {
  image: "agents:1",
  name: "ralph-m",
  places: [],
  cwd: "/repo",
  network: "on",
  user: { uid: 501, gid: 20 },
  variables: ["ANTHROPIC_API_KEY", "HOME"],
};

test("a container of the image, of which nothing stays", () => {
  expect(dockerArguments(CONTAINER).join(" ")).toBe(
    [
      "run --rm --init --interactive --name ralph-m --user 501:20",
      "--cap-drop ALL --security-opt no-new-privileges --read-only",
      // By name: the command line of a process is for everybody to read.
      "--env ANTHROPIC_API_KEY --env HOME",
      "--workdir /repo agents:1",
    ].join(" "),
  );
});

test("each place becomes a mount", () => {
  const args = dockerArguments({
    ...CONTAINER,
    variables: [],
    places: [
      { is: "shown", path: "/etc/x", from: "/state/x" },
      { is: "writable", path: "/repo", from: "/repo" },
      { is: "link", path: "/bin", to: "usr/bin" },
      { is: "empty", path: "/repo/.git/ralph" },
      { is: "hidden", path: "/repo/state.db" },
      { is: "temporary", path: "/tmp" },
      { is: "writable", path: '/odd, "name"', from: "/odd" },
    ],
  });
  expect(args.filter((_, index) => args[index - 1] === "--mount")).toEqual([
    "type=bind,src=/state/x,dst=/etc/x,readonly",
    "type=bind,src=/repo,dst=/repo",
    "type=tmpfs,dst=/repo/.git/ralph,readonly",
    "type=bind,src=/dev/null,dst=/repo/state.db,readonly",
    "type=tmpfs,dst=/tmp,tmpfs-mode=1777",
    'type=bind,src=/odd,"dst=/odd, ""name"""',
  ]);
});

test("without a network it has none", () => {
  const args = dockerArguments({ ...CONTAINER, network: "off" });
  expect(args.slice(args.indexOf("--network"), args.indexOf("--network") + 2)).toEqual(["--network", "none"]);
  expect(dockerArguments(CONTAINER)).not.toContain("--network");
});

test("it is found again by the marker of its iteration", () => {
  expect(removeArguments(containerName("1234"))).toEqual(["rm", "--force", "ralph-1234"]);
});
