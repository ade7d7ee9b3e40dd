/** What tells that an error comes from a plugin: a part of the path of its files, and how to say so. */
interface Watched {
  readonly shown: string;
  readonly path: string;
  readonly tell: (text: string) => void;
}

const watched: Watched[] = [];

/** From here on, what a plugin throws while nobody waits for it is told as its own. */
export function watchPlugin(plugin: Watched): void {
  watched.push(plugin);
}

/**
 * Whether a plugin let this error fly, in a promise or a timer of its own: then it is told, and all goes on. Nothing of
 * ours is half done, as nobody of us was waiting for it.
 */
export function tellPluginError(error: unknown): boolean {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const plugin = watched.findLast(({ path }) => stack.includes(path));
  if (plugin === undefined) return false;
  plugin.tell(`the plugin ${plugin.shown} threw while nobody waited for it: ${(error as Error).message}`);
  return true;
}
