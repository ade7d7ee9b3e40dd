/** What a person can do about a repository that git itself cannot read; null where it is something else. */
export function mendingHint(stderr: string): string | null {
  if (SPOILT_INDEX.test(stderr))
    return "git's index is damaged; it can be made again, and no file changes by that: rm .git/index && git reset";
  if (SPOILT_HEAD.test(stderr))
    return "the repository is damaged: .git/HEAD should name a branch (git symbolic-ref HEAD refs/heads/main); then start ralph again";
  if (SPOILT_OBJECT.test(stderr))
    return "the repository is damaged: see what git fsck says, and bring back what is missing, from another clone for example; then start ralph again, it goes on where it was";
  return null;
}

const SPOILT_INDEX =
  /index file (smaller|corrupt|open failed)|bad (index file|signature)|unknown index entry/i;
const SPOILT_HEAD = /not a git repository: '/;
const SPOILT_OBJECT =
  /bad (tree )?object|invalid object|error building trees|unable to read (tree|blob|sha1|[0-9a-f]{40})|(object|commit|tree|blob) .*(corrupt|missing|is empty)|could not parse (object|commit)|inflate: /i;
