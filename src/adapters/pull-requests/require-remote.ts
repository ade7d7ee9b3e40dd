import { RalphError } from "../../core/ralph-error.ts";
import { chooseRemote } from "../git/choose-remote.ts";
import type { Git } from "../git/git.ts";

/** Where branches are pushed for pull requests. */
export async function requireRemote(git: Git, base: string): Promise<string> {
  const chosen = await chooseRemote(git, base);
  if ("name" in chosen) return chosen.name;
  throw new RalphError("config", `git.merge is "pr", and ${chosen.why}`, {
    hint: "git remote add origin URL, or set another git.merge",
  });
}
