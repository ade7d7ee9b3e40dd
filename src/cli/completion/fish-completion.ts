import type { CommandShape } from "../command-shapes.ts";

/** A script for fish. */
export function fishCompletion(shapes: readonly CommandShape[]): string {
  const lines = shapes.flatMap((shape) => [
    ...shape.commands.map((name) => {
      const below = shapes.find(({ path }) => path === `${shape.path} ${name}`.trim());
      return `${start(shape, "commands")} -f -a ${name} -d ${quoted(below?.summary ?? "")}`;
    }),
    ...shape.arguments
      .filter(({ choices }) => choices.length > 0)
      .map(({ choices, description }) => {
        return `${start(shape, "commands")} -f -a ${quoted(choices.join(" "))} -d ${quoted(description)}`;
      }),
    ...shape.options.map(({ long, short, takesValue, choices, description }) => {
      const names = `-l ${long.slice(2)}${short === null ? "" : ` -s ${short.slice(1)}`}`;
      const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
      return `${start(shape, "options")} ${names}${values} -d ${quoted(description)}`;
    }),
  ]);
  return `# Completion of ralph for fish. For ever: ralph completion fish > ~/.config/fish/completions/ralph.fish
${lines.join("\n")}
`;
}

function start({ path, commands }: CommandShape, of: "commands" | "options"): string {
  if (path === "") return "complete -c ralph -n __fish_use_subcommand";
  const seen = path.split(" ").map((name) => `__fish_seen_subcommand_from ${name}`);
  const notYet =
    of === "commands" && commands.length > 0 ? [`not __fish_seen_subcommand_from ${commands.join(" ")}`] : [];
  return `complete -c ralph -n ${quoted([...seen, ...notYet].join("; and "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
