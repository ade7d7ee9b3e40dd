import type { Place } from "./place.ts";

export interface Container {
  readonly image: string;
  /** Unique to the iteration: by it the container is found when its client is gone. */
  readonly name: string;
  /** As `arrange` orders them. */
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly network: "on" | "off";
  readonly user: { readonly uid: number; readonly gid: number };
  /** Names of variables; their values stay out of the command line. */
  readonly variables: readonly string[];
}

/** What goes between `docker` and the command that it is to start. */
export function dockerArguments(container: Container): readonly string[] {
  const { image, name, places, cwd, network, user, variables } = container;
  return [
    "run",
    "--rm",
    // Reaps what the agent leaves, and hands signals on.
    "--init",
    "--interactive",
    "--name",
    name,
    "--user",
    `${user.uid}:${user.gid}`,
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
    "--read-only",
    ...(network === "off" ? ["--network", "none"] : []),
    ...places.flatMap(mountOf),
    ...variables.flatMap((variable) => ["--env", variable]),
    "--workdir",
    cwd,
    image,
  ];
}

/** So that nothing of an iteration runs on in the engine. */
export function removeArguments(name: string): readonly string[] {
  return ["rm", "--force", name];
}

export function containerName(marker: string): string {
  return `ralph-${marker}`;
}

function mountOf(place: Place): readonly string[] {
  const target = `dst=${place.path}`;
  switch (place.is) {
    case "shown":
      return ["--mount", fields("type=bind", `src=${place.from}`, target, "readonly")];
    case "writable":
      return ["--mount", fields("type=bind", `src=${place.from}`, target)];
    case "empty":
      return ["--mount", fields("type=tmpfs", target, "readonly")];
    case "hidden":
      return ["--mount", fields("type=bind", "src=/dev/null", target, "readonly")];
    case "temporary":
      return ["--mount", fields("type=tmpfs", target, "tmpfs-mode=1777")];
    // The image has its own.
    case "link":
      return [];
  }
}

/** As a line of CSV, which is how it is read. */
function fields(...all: readonly string[]): string {
  return all.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
}
