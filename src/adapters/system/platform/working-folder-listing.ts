/** A program that tells where others work. */
export interface WorkingFolderListing {
  readonly command: readonly string[];
  readonly read: (printed: string) => readonly string[];
}

/** How the folders are listed in which programs of a name work, where there is no /proc; null where nobody tells. */
export function workingFolderListing(
  platform: NodeJS.Platform,
  program: string,
): WorkingFolderListing | null {
  if (platform === "win32") return null;
  return { command: ["lsof", "-a", "-c", program, "-d", "cwd", "-Fn"], read: readLsof };
}

/** One field a line, its first letter says which: `p` a process, `f` a file of it, `n` the name of that. */
function readLsof(printed: string): readonly string[] {
  return printed.split("\n").flatMap((line) => (line.startsWith("n") ? [line.slice(1)] : []));
}
