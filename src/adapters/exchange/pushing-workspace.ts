import type { Workspace } from "../../engine/ports.ts";
import type { TaskBranches } from "./task-branches.ts";

/** What an iteration committed is on the remote before anybody learns of it: the next may be on another machine. */
export function pushingWorkspace<Inner extends Workspace>(workspace: Inner, branches: TaskBranches): Inner {
  return {
    ...workspace,
    async collect(request) {
      const evidence = await workspace.collect(request);
      await branches.push(request.task);
      return evidence;
    },
  };
}
