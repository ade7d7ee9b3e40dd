import { RalphError } from "../../core/ralph-error.ts";
import type { Checkout } from "./checkout.ts";
import { readHead } from "../git/read-head.ts";

/** Checks the branch out, made from the current commit if it does not exist. */
export async function useBranch(checkout: Checkout, name: string): Promise<void> {
  const { git } = checkout;
  if ((await readHead(checkout, git)).branch === name) return;
  if ((await git.run(["check-ref-format", "--branch", name])).code !== 0) {
    throw new RalphError("bad-tasks", `"${name}" is not a possible name of a branch`);
  }
  const exists = (await git.ask(["show-ref", "--verify", "--quiet", `refs/heads/${name}`])).code === 0;
  await git.must(exists ? ["checkout", "--quiet", name, "--"] : ["checkout", "--quiet", "-b", name]);
}
