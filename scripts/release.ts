// `npm run release -- VERSION`: from a clean tree to a commit and a tag. It pushes and publishes nothing: it prints how.
//   --dry-run          say what would be done, and change nothing
//   --without-checks   somebody else has run `npm run check` on this very commit
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { notesOf, releasedChangelog, requireNewer, withVersion } from "./release-texts.ts";

const root = join(import.meta.dirname, "..");

if (import.meta.main) {
  try {
    release();
  } catch (error) {
    console.error(`release: ${(error as Error).message}`);
    process.exitCode = 64;
  }
}

function release(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "dry-run": { type: "boolean" }, "without-checks": { type: "boolean" } },
  });
  const version = positionals[0];
  if (version === undefined || positionals.length > 1)
    throw new Error("name one version: npm run release -- 0.2.0");
  const tag = `v${version}`;
  const texts = textsOf(version);
  requireReady(tag);
  if (values["dry-run"] === true) {
    console.log(
      `release: would run the checks, write ${Object.keys(texts).join(", ")}, commit, and set the tag ${tag} with\n`,
    );
    console.log(notesOf(texts["CHANGELOG.md"] ?? "", version));
    return;
  }
  if (values["without-checks"] === true) console.log("release: the checks are left out");
  else execFileSync("npm", ["run", "check"], { cwd: root, stdio: "inherit" });
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(root, path), text);
  git("add", "--", ...Object.keys(texts));
  git("commit", "--quiet", "--allow-empty", "--message", `Release ${version}`);
  git(
    "tag",
    "--annotate",
    "--cleanup=verbatim",
    tag,
    "--message",
    `Ralph ${version}\n\n${notesOf(texts["CHANGELOG.md"] ?? "", version)}`,
  );
  sayNext(tag);
}

/** What the files say after it, by their path. */
function textsOf(version: string): Readonly<Record<string, string>> {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const packageJson = read("package.json");
  const current = (JSON.parse(packageJson) as { version: string }).version;
  requireNewer(version, current, git("tag", "--list", `v${current}`) !== "");
  const today = new Date().toISOString().slice(0, 10);
  return {
    "package.json": withVersion(packageJson, version),
    "package-lock.json": withVersion(read("package-lock.json"), version),
    "CHANGELOG.md": releasedChangelog(read("CHANGELOG.md"), version, today),
  };
}

function requireReady(tag: string): void {
  const changed = git("status", "--porcelain");
  if (changed !== "")
    throw new Error(`the work tree has uncommitted changes; commit them first:\n${changed}`);
  if (git("branch", "--show-current") === "")
    throw new Error("no branch is checked out; switch to the one that is to be released: git switch main");
  if (git("tag", "--list", tag) !== "")
    throw new Error(`the tag ${tag} is there already; choose a newer version`);
}

function sayNext(tag: string): void {
  const { name, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    repository?: unknown;
  };
  console.log(`release: ${tag} is committed and tagged; nothing is pushed or published. Next:
  git push origin HEAD ${tag}
  npm publish --provenance --access public     # in the CI of the host, from a fresh clone of the tag
To take it back: git tag --delete ${tag} && git reset --keep HEAD~1`);
  if (repository === undefined)
    console.log(
      'Before that: --provenance needs "repository" in package.json, with the address of the host.',
    );
  if (!name.startsWith("@"))
    console.log(
      `Before that: see whose "${name}" is (npm view ${name}); if it is not yours, take a name in a scope of yours.`,
    );
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trimEnd();
}
