import { RalphError } from "../../../core/ralph-error.ts";

/** Which issues are the tasks, and what becomes of one that is done. */
export interface GithubPlace {
  /** `owner/name`; null: the repository that gh finds here. */
  readonly repo: string | null;
  readonly label: string;
  readonly whenDone: "close" | "comment";
}

/** Reads `github`, `github:LABEL` and `github:OWNER/NAME:LABEL`; null when the words name something else. */
export function githubPlace(words: string, usual: GithubPlace): GithubPlace | null {
  const [whole, repo, label] = /^github(?::(?:([\w.-]+\/[\w.-]+):)?(.*))?$/s.exec(words) ?? [];
  if (whole === undefined) return null;
  return checked({ ...usual, repo: repo ?? usual.repo, label: (label ?? usual.label).trim() });
}

/** The words by which the same place is found again. */
export function githubLabel({ repo, label }: GithubPlace): string {
  return repo === null ? `github:${label}` : `github:${repo}:${label}`;
}

function checked(place: GithubPlace): GithubPlace {
  const { label, repo } = place;
  if (label === "" || /[,"\p{Cc}]/u.test(label))
    throw new RalphError("usage", `the label ${JSON.stringify(label)} cannot be asked for with gh`, {
      hint: "name a label without commas and quotes: --source github:ralph",
    });
  if (repo !== null && !/^[\w.-]+\/[\w.-]+$/.test(repo))
    throw new RalphError("usage", `the repository "${repo}" is not written as owner/name`, {
      hint: 'correct it in .ralph/ralph.toml: [github] repo = "owner/name"',
    });
  return place;
}
