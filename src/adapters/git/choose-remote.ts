import type { Git } from "./git.ts";

export type ChosenRemote = { readonly name: string } | { readonly why: string };

/** Where branches go: the base's own remote, the only one, or `origin`. In words why there is none. */
export async function chooseRemote(git: Git, base: string | null): Promise<ChosenRemote> {
  const own =
    base === null ? "" : (await git.ask(["config", "--get", `branch.${base}.remote`])).stdout.trim();
  const remotes = (await git.must(["remote"])).split("\n").filter(Boolean);
  const name = [own, remotes.length === 1 ? remotes[0] : undefined, "origin"].find(
    (candidate) => candidate !== undefined && remotes.includes(candidate),
  );
  if (name !== undefined) return { name };
  return { why: remotes.length === 0 ? "this repository has no remote" : "none of the remotes is origin" };
}
