import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Each leaves some of what V8 sees no reason to collect for long: to it, the buffers of dead processes are small. */
const AGENTS = 40;

/** Called for each started agent: the more memory is ours, the longer the next start takes. */
export function createGarbageCollection(every = AGENTS, expose = exposedCollector): () => void {
  let agents = 0;
  let collect: (() => void) | null = null;
  return () => {
    agents += 1;
    if (agents % every !== 0) return;
    collect ??= expose();
    setImmediate(collect);
  };
}

/** Exposed only now: as a flag of the command line it makes every start of Node a third slower. */
function exposedCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
