import type { AgentRequest } from "../../src/engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { CHECKLIST } from "./checklist-text.ts";
import { joined, SHARED } from "./lane-truth.ts";
import { mergeFiles } from "./branches.ts";
import { MAIN, type TaskTruth, type World } from "./world.ts";

/** Whether its last work did not go together with the base, and it knows. */
export function isToldToMend({ prompt }: AgentRequest): boolean {
  return prompt.includes("Bring it into your branch");
}

/** What belongs to honest work beside others: its line in the shared file, and what joins it with theirs. */
export function workBeside(world: World, truth: TaskTruth, request: AgentRequest): void {
  const { lanes } = world;
  if (lanes === null) return;
  const place = world.checkoutAt(request.root);
  if (isToldToMend(request)) mend(place, truth);
  if (lanes.sharing.has(truth.id)) place.put(SHARED, joined(place.files.get(SHARED), truth.id));
  const knowsOfClashes = request.ordinal > 1 || isToldToMend(request);
  if (knowsOfClashes) for (const joint of lanes.clashesIn(place.files)) place.write(joint);
}

/** Brings the base into its branch, and keeps what both sides meant; or does not listen. */
function mend(place: Checkout, truth: TaskTruth): void {
  if (truth.stubborn > 0) {
    truth.stubborn -= 1;
    return;
  }
  const { branches, branch, head } = place;
  const main = branches.tip(MAIN) ?? "0";
  const [ours, theirs] = [branches.files(head), branches.files(main)];
  const merged = mergeFiles(branches.files(branches.mergeBase(head, main)), ours, theirs);
  const files = new Map(merged.files);
  for (const path of merged.conflicts)
    files.set(path, path === SHARED ? joined(theirs.get(path), ours.get(path)) : (ours.get(path) ?? ""));
  const plan = theirs.get(CHECKLIST);
  if (plan !== undefined) files.set(CHECKLIST, plan);
  branches.move(branch, branches.add(files, [head, main], "agent"));
  place.follow(ours);
}
