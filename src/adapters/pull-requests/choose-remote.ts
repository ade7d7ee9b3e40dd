import { RalphError } from "../../core/ralph-error.ts";
import type { Git } from "../git/git.ts";

/** Where branches go: the base's own remote, the only one, or `origin`. */
export async function chooseRemote(git: Git, base: string): Promise<string> {
  const own = (await git.ask(["config", "--get", `branch.${base}.remote`])).stdout.trim();
  const remotes = (await git.must(["remote"])).split("\n").filter(Boolean);
  const chosen = [own, remotes.length === 1 ? remotes[0] : undefined, "origin"].find(
    (name) => name !== undefined && remotes.includes(name),
  );
  if (chosen !== undefined) return chosen;
  const what = remotes.length === 0 ? "this repository has no remote" : "none of the remotes is origin";
  throw new RalphError("config", `git.merge is "pr", and ${what}`, {
    hint: "git remote add origin URL, or set another git.merge",
  });
}
