/** What of its operator's an agent needs to do its work, where it sees nothing else. */
export interface Belongings {
  readonly folders: readonly OwnFolder[];
  /** Further files and folders, which it cannot change. */
  readonly shows: readonly string[];
  /** Variables that are meant for it. */
  readonly variables: RegExp;
}

/** A folder that an agent keeps things in, and what of the operator's it needs there. The rest it does not see. */
export interface OwnFolder {
  readonly path: string;
  /** Names of files and folders in it that are shown as they are, and cannot be changed. */
  readonly shows: readonly string[];
  /** Names of files that it writes to: it has a copy, made anew when the operator's is newer. */
  readonly copies: readonly string[];
}

export const NO_BELONGINGS: Belongings = { folders: [], shows: [], variables: /^$/ };
