import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { refuseStrayConfiguration } from "../process/agent-sandbox.ts";
import {
  alternatesOf,
  arrange,
  findOutside,
  holdPlaces,
  insideEnvironment,
  isInside,
  namesForImage,
  type Place,
  privateHome,
  projectPlaces,
  type SandboxedProject,
  shown,
  withoutState,
  writable,
} from "./sandbox.ts";

test("a program in the workspace is none, whatever way leads to it", () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-outside-"));
  const [workspace, links, real] = ["workspace", "links", "real"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [workspace, links, real]) mkdirSync(path);
  for (const path of [workspace, real]) writeFileSync(join(path, "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync(join(workspace, "bwrap"), join(links, "bwrap"));
  const find = (...paths: readonly string[]): string | null =>
    findOutside("bwrap", workspace, { PATH: paths.join(":") });
  expect(find(workspace, ".", "", links, real)).toBe(join(real, "bwrap"));
  expect(find(workspace, links)).toBeNull();
  expect(find(join(folder, "gone"))).toBeNull();
  rmSync(folder, { recursive: true });
});

const OPERATOR = {
  PATH: "/usr/bin",
  HOME: "/home/me",
  TMPDIR: "/var/folders/x",
  JAVA_HOME: "/opt/java",
  LC_ALL: "C.UTF-8",
  HTTPS_PROXY: "http://me:password@proxy:3128",
  DATABASE_URL: "postgres://me:password@db/app",
  AWS_SECRET_ACCESS_KEY: "aws-secret",
  NPM_TOKEN: "npm-secret",
  ANTHROPIC_API_KEY: "model-secret",
  SSH_AUTH_SOCK: "/run/agent.sock",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus",
  RALPH_MARKER: "m",
  RALPH_STATE: "/state",
};
const CLAUDE = { env: OPERATOR, own: /^ANTHROPIC_/, named: [] };

test("an agent gets what is plain, and of secrets only its own", () => {
  const { GIT_CONFIG_COUNT, ...inside } = insideEnvironment(CLAUDE);
  expect(Object.keys(inside).filter((name) => !name.startsWith("GIT_CONFIG_"))).toEqual([
    "PATH",
    "HOME",
    "TMPDIR",
    "JAVA_HOME",
    "LC_ALL",
    "HTTPS_PROXY",
    "ANTHROPIC_API_KEY",
    "RALPH_MARKER",
  ]);
  expect(inside).toMatchObject({ TMPDIR: "/tmp", ANTHROPIC_API_KEY: "model-secret" });
  expect(GIT_CONFIG_COUNT).toBe("2");
});

test("what the operator names for it, it gets", () => {
  const inside = insideEnvironment({ ...CLAUDE, named: ["NPM_TOKEN", "SSH_AUTH_SOCK"] });
  expect(inside).toMatchObject({ NPM_TOKEN: "npm-secret", SSH_AUTH_SOCK: "/run/agent.sock" });
  expect(inside).not.toHaveProperty("AWS_SECRET_ACCESS_KEY");
});

test("settings of git that are there already stay, and commits are not signed", () => {
  const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Me" };
  expect(insideEnvironment({ ...CLAUDE, env })).toMatchObject({
    ...env,
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_1: "commit.gpgSign",
    GIT_CONFIG_VALUE_1: "false",
    GIT_CONFIG_KEY_2: "tag.gpgSign",
  });
});

test("an image has its own PATH and programs", () => {
  const names = namesForImage(CLAUDE).filter((name) => !name.startsWith("GIT_"));
  expect(names).toEqual(["ANTHROPIC_API_KEY", "HOME", "HTTPS_PROXY", "LC_ALL", "RALPH_MARKER", "TMPDIR"]);
});

test("an image gets all settings of git that the count speaks of", () => {
  const count = namesForImage(CLAUDE).filter((name) => name.startsWith("GIT_CONFIG_KEY_"));
  expect(count).toEqual([0, 1, 2, 3].map((index) => `GIT_CONFIG_KEY_${index}`));
});

let repository: TemporaryRepository;
let project: SandboxedProject;
beforeEach(() => {
  repository = temporaryRepository();
  const { root } = repository;
  repository.write(".ralph/ralph.toml", "");
  repository.write(".git/ralph/state.db", "");
  const gitDir = join(root, ".git");
  project = {
    gitDir,
    alternates: [],
    ralphDir: join(root, ".ralph"),
    stateFile: join(gitDir, "ralph/state.db"),
    ownPlaces: [],
  };
});
afterEach(() => repository.dispose());

function placesIn(
  workspace: string,
  over: Partial<SandboxedProject> = {},
  readsOnly = false,
): readonly Place[] {
  const all = { ...project, ...over };
  const place = { workspace, folder: "/tmp/iteration", promptFile: null, readsOnly };
  return arrange(withoutState(all, projectPlaces(all, place)));
}

test("in place: repository and folder can be written, what others would run cannot", () => {
  const { root } = repository;
  expect(placesIn(root)).toEqual(
    expect.arrayContaining([
      writable(root),
      writable(join(root, ".git")),
      shown(join(root, ".git/config")),
      shown(join(root, ".git/hooks")),
      { is: "empty", path: join(root, ".git/ralph") },
      writable(join(root, ".ralph")),
      shown(join(root, ".ralph/ralph.toml")),
    ]),
  );
});

test("for a reader: nothing can be written but the folder", () => {
  const { root } = repository;
  const places = placesIn(root, {}, true);
  expect(places).toContainEqual(shown(root));
  expect(places.filter(({ is }) => is === "writable")).toEqual([writable("/tmp/iteration")]);
  expect(places).toContainEqual({ is: "empty", path: join(root, ".git/ralph") });
});

test("in a worktree: the user's checkout is not there, its git directory is", () => {
  const { root } = repository;
  const worktree = join(root, "..", "worktree");
  execFileSync("git", ["worktree", "add", "--quiet", worktree], { cwd: root });
  const places = placesIn(worktree);
  expect(places).toEqual(
    expect.arrayContaining([
      writable(worktree),
      shown(join(worktree, ".git")),
      writable(join(root, ".git")),
      shown(join(root, ".git/worktrees")),
      writable(join(root, ".git/worktrees/worktree")),
      shown(join(root, ".git/worktrees/worktree/commondir")),
      { is: "empty", path: join(root, ".git/ralph") },
      shown(join(root, ".ralph")),
    ]),
  );
  expect(places.map(({ path }) => path)).not.toContain(root);
});

test("what is missing and would steer git is there for as long as any agent runs", () => {
  const { root } = repository;
  const gitDir = join(root, ".git");
  repository.write(".git/modules/a/b/HEAD", "ref: refs/heads/main\n");
  const names = ["commondir", "config.worktree", "objects/info/alternates", "modules/a/b/commondir"];
  const there = (): readonly string[] => names.filter((name) => existsSync(join(gitDir, name)));
  const [one, two] = [holdPlaces(project, root), holdPlaces(project, root)];
  expect(there()).toEqual(names);
  expect(placesIn(root)).toEqual(expect.arrayContaining(names.map((name) => shown(join(gitDir, name)))));
  expect(placesIn(root)).toContainEqual(shown(join(gitDir, "modules/a/b/hooks")));
  expect(repository.git("status", "--porcelain")).toBe("?? .ralph/");
  one();
  expect(there()).toEqual(names);
  two();
  expect(there()).toEqual([]);
});

test("configuration that came while an agent ran is refused, until it is gone", () => {
  const { root } = repository;
  const gitDir = join(root, ".git");
  const release = holdPlaces(project, root);
  refuseStrayConfiguration(join(gitDir, "ralph"));
  repository.write(".ralph/ralph.json", "{}");
  expect(() => refuseStrayConfiguration(join(gitDir, "ralph"))).toThrow(
    /ralph\.json was written while an agent ran/,
  );
  repository.remove(".ralph/ralph.json");
  release();
  repository.write(".ralph/ralph.json", "{}");
  refuseStrayConfiguration(join(gitDir, "ralph"));
});

test("the folders that we write to cannot be replaced", () => {
  holdPlaces(project, repository.root)();
  const folders = ["logs", "interventions"].map((name) => join(repository.root, ".ralph", name));
  expect(placesIn(repository.root)).toEqual(expect.arrayContaining(folders.map(writable)));
});

test("a state that lies in the workspace is hidden, one elsewhere is not even named", () => {
  repository.write("state.db", "");
  const inSight = join(repository.root, "state.db");
  expect(placesIn(repository.root, { stateFile: inSight })).toContainEqual({ is: "hidden", path: inSight });
  repository.write("../state.db", "");
  const away = join(repository.root, "..", "state.db");
  expect(placesIn(repository.root, { stateFile: away }).map(({ path }) => path)).not.toContain(away);
});

test("objects that a clone shares with another are there", () => {
  const other = join(repository.root, "..", "other");
  execFileSync("git", ["init", "--quiet", other]);
  const objects = join(other, ".git/objects");
  repository.write(".git/objects/info/alternates", `${objects}\n/gone\n${repository.root}\n/\n`);
  expect(alternatesOf(join(repository.root, ".git"))).toEqual([objects]);
  expect(placesIn(repository.root, { alternates: [objects] })).toContainEqual(shown(objects));
});

test("our own program inside of the workspace stays the agent's to change", () => {
  const own = join(repository.root, "src");
  expect(placesIn(repository.root, { ownPlaces: [own, "/usr/bin/env"] })).not.toContainEqual(shown(own));
  expect(placesIn(repository.root, { ownPlaces: [own, "/usr/bin/env"] })).toContainEqual(
    shown("/usr/bin/env"),
  );
});

test("a folder of ours that is not made yet is not named", () => {
  const ralphDir = join(repository.root, ".other");
  expect(placesIn(repository.root, { ralphDir }).map(({ path }) => path)).not.toContain(ralphDir);
});

function paths(places: readonly Place[]): readonly string[] {
  return arrange(places).map(({ path }) => path);
}

test("a folder comes before what is in it, in whatever order they are named", () => {
  const places = [shown("/home/me/repo/.git/config"), writable("/home/me/repo"), writable("/home/me")];
  expect(paths(places)).toEqual(["/home/me", "/home/me/repo", "/home/me/repo/.git/config"]);
});

test("of two for the same path the last counts", () => {
  expect(arrange([shown("/a"), writable("/a")])).toEqual([writable("/a")]);
});

test("what is shown with its folder need not be shown again", () => {
  expect(paths([shown("/usr"), shown("/usr/lib/node")])).toEqual(["/usr"]);
});

test("what is shown inside of something else stays", () => {
  const moved: Place = { is: "shown", path: "/etc/passwd", from: "/state/passwd" };
  expect(paths([shown("/etc"), moved])).toEqual(["/etc", "/etc/passwd"]);
  expect(paths([writable("/repo"), shown("/repo/config")])).toEqual(["/repo", "/repo/config"]);
  const between: readonly Place[] = [shown("/opt"), { is: "temporary", path: "/opt/x" }, shown("/opt/x/y")];
  expect(paths(between)).toEqual(["/opt", "/opt/x", "/opt/x/y"]);
});

test.each([
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/", true],
])("%s is in %s: %s", (path, folder, is) => {
  expect(isInside(path, folder)).toBe(is);
});

let folder: string;
let home: string;
let kept: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-home-"));
  home = join(folder, "me");
  kept = join(folder, "kept");
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string, atSeconds?: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  if (atSeconds !== undefined) utimesSync(path, atSeconds, atSeconds);
  return path;
}

function codex(path = join(home, ".codex")) {
  return [{ path, shows: ["config.toml"], copies: ["auth.json"] }];
}

test("settings are shown as they are, logins are copied, and the rest is not there", () => {
  const settings = write(join(home, ".codex/config.toml"), "model = 1");
  write(join(home, ".codex/auth.json"), "login");
  write(join(home, ".codex/history.jsonl"), "what I asked");
  const gitconfig = write(join(home, ".gitconfig"), "[user]");
  expect(privateHome(kept, home, codex())).toEqual([
    { is: "writable", path: home, from: join(kept, "home") },
    shown(gitconfig),
    shown(settings),
  ]);
  expect(readFileSync(join(kept, "home/.codex/auth.json"), "utf8")).toBe("login");
  expect(existsSync(join(kept, "home/.codex/history.jsonl"))).toBe(false);
  expect(statSync(kept).mode & 0o077).toBe(0);
});

test("a login that the agent has renewed is kept, until the operator's is newer", () => {
  const original = write(join(home, ".codex/auth.json"), "login", 1_000);
  privateHome(kept, home, codex());
  const copy = join(kept, "home/.codex/auth.json");
  write(copy, "renewed", 2_000);
  privateHome(kept, home, codex());
  expect(readFileSync(copy, "utf8")).toBe("renewed");
  write(original, "another login", 3_000);
  privateHome(kept, home, codex());
  expect(readFileSync(copy, "utf8")).toBe("another login");
});

test("a link that the agent puts in place of its copy is not followed", () => {
  write(join(home, ".codex/auth.json"), "login");
  const victim = write(join(folder, "victim"), "precious");
  mkdirSync(join(kept, "home/.codex"), { recursive: true });
  symlinkSync(victim, join(kept, "home/.codex/auth.json"));
  privateHome(kept, home, codex());
  expect(readFileSync(victim, "utf8")).toBe("precious");
  expect(readFileSync(join(kept, "home/.codex/auth.json"), "utf8")).toBe("login");
});

test("a folder outside of HOME has a private one in its place", () => {
  const elsewhere = join(folder, "codex");
  write(join(elsewhere, "auth.json"), "login");
  const [, place] = privateHome(kept, home, codex(elsewhere));
  expect(place).toMatchObject({ is: "writable", path: elsewhere });
  const from = place !== undefined && "from" in place ? place.from : "";
  expect(from.startsWith(join(kept, "elsewhere"))).toBe(true);
  expect(readFileSync(join(from, "auth.json"), "utf8")).toBe("login");
});

test("what was shown once and is no more leaves no empty file", () => {
  const trace = write(join(kept, "home/.codex/config.toml"), "");
  expect(privateHome(kept, home, codex())).toHaveLength(1);
  expect(existsSync(trace)).toBe(false);
});

test("a folder that the agent has made a link is a folder again", () => {
  write(join(home, ".codex/auth.json"), "login");
  const victim = join(folder, "victim");
  mkdirSync(victim);
  mkdirSync(join(kept, "home"), { recursive: true });
  symlinkSync(victim, join(kept, "home/.codex"));
  privateHome(kept, home, codex());
  expect(existsSync(join(victim, "auth.json"))).toBe(false);
  expect(readFileSync(join(kept, "home/.codex/auth.json"), "utf8")).toBe("login");
});
