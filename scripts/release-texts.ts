const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?$/;
const UNRELEASED = "## [Unreleased]\n";

/** The current version may be released too, if it never was. */
export function requireNewer(version: string, current: string, isTagged: boolean): void {
  if (!VERSION.test(version))
    throw new Error(`"${version}" is no version; expected three numbers, such as 0.2.0 or 1.0.0-rc.1`);
  const order = compare(version, current);
  if (order < 0 || (order === 0 && isTagged))
    throw new Error(`${version} is not newer than ${current}, which package.json has`);
}

function compare(a: string, b: string): number {
  const [, ...left] = VERSION.exec(a) ?? [];
  const [, ...right] = VERSION.exec(b) ?? [];
  for (const at of [0, 1, 2]) {
    const difference = Number(left[at]) - Number(right[at]);
    if (difference !== 0) return difference;
  }
  const [ours, theirs] = [left[3], right[3]];
  // A version with a suffix comes before the one without.
  if (ours === undefined || theirs === undefined)
    return Number(ours === undefined) - Number(theirs === undefined);
  return ours.localeCompare(theirs, "en", { numeric: true });
}

/** `package.json` or its lock file with another version of our own; all else stays byte for byte. */
export function withVersion(json: string, version: string): string {
  const own = json.indexOf('"node_modules/');
  const end = own === -1 ? json.indexOf('"dependencies"') : own;
  const head = json.slice(0, end).replaceAll(/^( {2,6}"version": )"[^"]*"/gm, `$1"${version}"`);
  return head + json.slice(end);
}

/** What was unreleased is the version's, with its date; a new empty heading stands above. */
export function releasedChangelog(text: string, version: string, date: string): string {
  if (!text.includes(UNRELEASED)) throw new Error('CHANGELOG.md has no heading "## [Unreleased]"; add it');
  if (text.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has a heading for ${version} already`);
  if (sectionAfter(text, UNRELEASED) === "")
    throw new Error('CHANGELOG.md says nothing below "## [Unreleased]"; tell there what changes for users');
  return text.replace(UNRELEASED, `${UNRELEASED}\n## [${version}] - ${date}\n`);
}

/** What the changelog says of a version. */
export function notesOf(text: string, version: string): string {
  const heading = text.split("\n").find((line) => line.startsWith(`## [${version}]`)) ?? "";
  return sectionAfter(text, `${heading}\n`);
}

function sectionAfter(text: string, heading: string): string {
  const rest = text.slice(text.indexOf(heading) + heading.length);
  return (rest.split(/^## \[/m)[0] ?? "").trim();
}
