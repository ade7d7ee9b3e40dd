import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Project } from "../e2e/project.ts";
import { failWrites, mountReadOnly, mountTmpfs, type Fault } from "./fault.ts";

/** Everything that a run meets and cannot go on with, or must not mind. */
export const FAULTS: readonly Fault[] = [
  {
    name: "no space in the state folder",
    needsRoot: true,
    breaks: (project) => withFullDisk(join(project.root, ".git", "ralph"), 0),
    code: 5,
    says: /^ralph: no space left to write .*state\.db; nothing that was recorded is lost\n {2}→ free some space/,
  },
  {
    name: "no space for the log, after a while",
    needsRoot: true,
    breaks: (project) => withFullDisk(join(project.root, ".git", "ralph"), 60_000),
    code: 5,
    says: /^ralph: no space left to write .*state\.db; nothing that was recorded is lost\n {2}→ free some space/,
  },
  {
    name: "no space for the transcripts",
    needsRoot: true,
    flood: 8_000_000,
    breaks: (project) => withFullDisk(join(project.root, ".ralph", "logs"), 1_000_000),
    code: 5,
    says: /^ralph: no space left on the disk while writing .*iteration-002\.log\n {2}→ free some space/,
  },
  {
    name: "no space for the views",
    needsRoot: true,
    breaks: (project) => withFullDisk(join(project.root, ".ralph"), 0),
    code: 5,
    says: /^ralph: no space left on the disk while writing .*\.ralph.*\n {2}→ free some space/,
  },
  {
    name: "no space for the work tree and everything in it",
    needsRoot: true,
    breaks: (project) => withFullDisk(project.root, 0),
    code: 5,
    says: /^ralph: no space left .*\n {2}→ free some space/,
  },
  {
    name: "no space that is left for git alone",
    needsRoot: true,
    breaks: (project) => withFullDisk(join(project.root, ".git", "objects"), 0),
    code: 5,
    says: /^ralph: .*no space left.*\n {2}→ /i,
  },
  {
    name: "a quota that the transcripts have used up",
    needsCompiler: true,
    breaks: (project) => failWrites(project, "iteration-002.log", constants.errno.EDQUOT),
    code: 5,
    says: /^ralph: no space left on the disk while writing .*iteration-002\.log\n {2}→ free some space/,
  },
  {
    name: "a quota that the log has used up",
    needsCompiler: true,
    breaks: (project) => failWrites(project, "/ralph/state.db", constants.errno.EDQUOT),
    code: 5,
    says: /^ralph: no space left to write .*state\.db; nothing that was recorded is lost\n {2}→ free some space/,
  },
  {
    name: "a network disk that has lost the transcripts",
    needsCompiler: true,
    breaks: (project) => failWrites(project, "iteration-002.log", constants.errno.ESTALE),
    code: 64,
    says: /^ralph: .*iteration-002\.log cannot be written: its network disk has lost it \(ESTALE\)\n {2}→ /,
  },
  {
    name: "a folder .ralph that may not be written",
    needsRoot: true,
    asStranger: true,
    breaks: (project) => withMode(join(project.root, ".ralph"), 0o555),
    code: 64,
    says: /^ralph: .*\.ralph.* cannot be written \(EACCES\)\n {2}→ make it writable/,
  },
  {
    name: "a state folder that may not be written",
    needsRoot: true,
    asStranger: true,
    breaks: (project) => withMode(join(project.root, ".git", "ralph"), 0o555),
    code: 64,
    says: /^ralph: cannot write .*\.git\/ralph.*\n {2}→ make .* writable/,
  },
  {
    name: "a state file that may not be read",
    needsRoot: true,
    asStranger: true,
    breaks: (project) => withMode(join(project.root, ".git", "ralph", "state.db"), 0o000),
    code: 64,
    says: /^ralph: cannot write .*state\.db.*\n {2}→ make .* writable/,
  },
  {
    name: "a task file that may not be read",
    needsRoot: true,
    asStranger: true,
    breaks: (project) => withMode(join(project.root, "TODO.md"), 0o000),
    code: 64,
    says: /^ralph: .*TODO\.md cannot be read \(EACCES\)\n {2}→ make it readable/,
  },
  {
    name: ".ralph on a read-only disk",
    needsRoot: true,
    breaks: (project) => mountReadOnly(join(project.root, ".ralph")),
    code: 64,
    says: /^ralph: .*\.ralph.* cannot be written \(EROFS\)\n {2}→ make it writable/,
  },
  {
    name: "the state on a read-only disk",
    needsRoot: true,
    breaks: (project) => mountReadOnly(join(project.root, ".git", "ralph")),
    code: 64,
    says: /^ralph: cannot write .*\.git\/ralph.*\n {2}→ make .* writable/,
  },
  {
    name: "the whole repository on a read-only disk",
    needsRoot: true,
    breaks: (project) => mountReadOnly(project.root),
    code: 64,
    says: /^ralph: .*(cannot write|cannot be written).*\n {2}→ make .*writable/,
  },
  {
    name: "a file in the place of .ralph",
    isQuick: true,
    breaks: (project) => instead(project, ".ralph", (path) => writeFileSync(path, "")),
    code: 64,
    says: /^ralph: .*\.ralph is not a folder, and ralph keeps its files in one\n {2}→ move it away\n$/,
  },
  {
    name: "a link to nowhere in the place of .ralph",
    breaks: (project) => instead(project, ".ralph", (path) => symlinkSync("/nonexistent/place", path)),
    code: 64,
    says: /^ralph: .*\.ralph is a symbolic link; ralph writes only inside the repository\n {2}→ remove the link/,
  },
  {
    name: "a file in the place of .ralph/logs",
    breaks: (project) => instead(project, ".ralph/logs", (path) => writeFileSync(path, "")),
    code: 64,
    says: /^ralph: .*\.ralph.* cannot be written: something else is in its place.*\n {2}→ move it away/,
  },
  {
    name: "an index.lock that a dead git left",
    isQuick: true,
    breaks: (project) => {
      const lock = join(project.root, ".git", "index.lock");
      writeFileSync(lock, "");
      return () => rmSync(lock, { force: true });
    },
    code: 0,
    says: /^$/,
  },
  {
    name: "a HEAD that says nothing",
    breaks: (project) => changed(join(project.root, ".git", "HEAD"), "\n"),
    code: 5,
    says: /^ralph: git status failed: not a git repository.*\n {2}→ the repository is damaged: \.git\/HEAD/,
  },
  {
    name: "a HEAD that points to a branch without commits",
    breaks: (project) => changed(join(project.root, ".git", "HEAD"), "ref: refs/heads/nowhere\n"),
    code: 64,
    says: /^ralph: the work tree has uncommitted changes.*\n {2}→ /,
  },
  {
    name: "a HEAD that points to a commit which is not there",
    breaks: (project) => changed(join(project.root, ".git", "HEAD"), `${"1".repeat(40)}\n`),
    code: 5,
    says: /^ralph: git \S+ failed: .*\n {2}→ the repository is damaged: see what git fsck says/,
  },
  {
    name: "a commit that is missing",
    isQuick: true,
    breaks: (project) => withoutObject(project, "HEAD"),
    code: 5,
    says: /^ralph: git \S+ failed: .*\n {2}→ the repository is damaged: see what git fsck says/,
  },
  {
    name: "the tree of the last commit is missing",
    breaks: (project) => withoutObject(project, "HEAD^{tree}"),
    code: 5,
    says: /^ralph: git \S+ failed: .*\n {2}→ the repository is damaged: see what git fsck says/,
  },
  {
    name: "a file of the last commit is missing in git",
    breaks: (project) => withoutObject(project, "HEAD:README.md"),
    code: 5,
    says: /^ralph: git commit failed: .*\n {2}→ the repository is damaged: see what git fsck says/,
  },
  {
    name: "an index that is garbage",
    breaks: (project) => changed(join(project.root, ".git", "index"), "garbage"),
    code: 5,
    says: /^ralph: git status failed: .*index.*\n {2}→ git's index is damaged.*rm \.git\/index && git reset\n$/,
  },
];

/** The same content on a disk of its own, with so many bytes free. */
function withFullDisk(folder: string, free: number): () => void {
  const kept = mkdtempSync(join(tmpdir(), "ralph-kept-"));
  execFileSync("cp", ["-a", `${folder}/.`, kept]);
  const umount = mountTmpfs(folder, "size=3m");
  execFileSync("cp", ["-a", `${kept}/.`, folder]);
  const filler = join(folder, ".filler");
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)));
  return () => {
    rmSync(filler);
    rmSync(kept, { recursive: true });
    execFileSync("cp", ["-a", `${folder}/.`, mkdirIn(kept)]);
    umount();
    execFileSync("find", [folder, "-mindepth", "1", "-delete"]);
    execFileSync("cp", ["-a", `${kept}/.`, folder]);
    rmSync(kept, { recursive: true });
  };
}

function mkdirIn(path: string): string {
  mkdirSync(path);
  return path;
}

function withMode(path: string, mode: number): () => void {
  chmodSync(path, mode);
  return () => chmodSync(path, path.includes(".db") || path.endsWith(".md") ? 0o600 : 0o755);
}

function instead({ root }: Project, name: string, put: (path: string) => void): () => void {
  const path = join(root, name);
  renameSync(path, `${path}.kept`);
  put(path);
  return () => {
    rmSync(path, { recursive: true, force: true });
    renameSync(`${path}.kept`, path);
  };
}

function changed(path: string, text: string): () => void {
  copyFileSync(path, `${path}.kept`);
  writeFileSync(path, text);
  return () => renameSync(`${path}.kept`, path);
}

function withoutObject(project: Project, name: string): () => void {
  const oid = project.git("rev-parse", name);
  const path = join(project.root, ".git", "objects", oid.slice(0, 2), oid.slice(2));
  const bytes = readFileSync(path);
  rmSync(path, { force: true });
  return () => writeFileSync(path, bytes);
}
