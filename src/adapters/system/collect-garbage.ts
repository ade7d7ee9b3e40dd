/** Each leaves some of what V8 sees no reason to collect for long: to it, the buffers of dead processes are small. */
const AGENTS = 40;

/**
 * To be called for each agent that has just been started, and works while we would only wait. The more memory is
 * ours, the longer it takes to start the next one. Without `--expose-gc` it does nothing.
 */
export function createGarbageCollection(every = AGENTS): () => void {
  let agents = 0;
  return () => {
    agents += 1;
    if (agents % every === 0) setImmediate(() => globalThis.gc?.());
  };
}
