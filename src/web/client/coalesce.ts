/** What takes long is done the more seldom. */
const PAUSE = 3;

/**
 * Calls of the returned function become calls of `work`: never two at a time, never closer than `gapMs` or some times
 * as long as the last one took, and always one that began after the last call.
 */
export function coalesce(work: () => Promise<void>, gapMs: number): () => void {
  let isBusy = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      const began = performance.now();
      await work();
      const pause = Math.max(gapMs, (performance.now() - began) * PAUSE);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    isBusy = false;
  };
  return () => {
    isWanted = true;
    if (!isBusy) void run();
  };
}
