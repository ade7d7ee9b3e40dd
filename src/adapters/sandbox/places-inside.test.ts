import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { projectPlaces, withoutState, type SandboxedProject } from "./places-inside.ts";
import { arrange, shown, writable, type Place } from "./place.ts";

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
    ralphDir: join(root, ".ralph"),
    stateFile: join(gitDir, "ralph/state.db"),
    ownPlaces: [],
  };
});
afterEach(() => repository.dispose());

function placesIn(workspace: string, over: Partial<SandboxedProject> = {}): readonly Place[] {
  const all = { ...project, ...over };
  const place = { workspace, folder: "/tmp/iteration", promptFile: null };
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

test("a state that lies in the workspace is hidden, one elsewhere is not even named", () => {
  repository.write("state.db", "");
  const inSight = join(repository.root, "state.db");
  expect(placesIn(repository.root, { stateFile: inSight })).toContainEqual({ is: "hidden", path: inSight });
  repository.write("../state.db", "");
  const away = join(repository.root, "..", "state.db");
  expect(placesIn(repository.root, { stateFile: away }).map(({ path }) => path)).not.toContain(away);
});

test("objects that a clone shares with another are there", () => {
  const other = join(repository.root, "..", "other", "objects");
  mkdirSync(other, { recursive: true });
  repository.write(".git/objects/info/alternates", `${other}\n/gone\n`);
  const places = placesIn(repository.root);
  expect(places).toContainEqual(shown(other));
  expect(places).not.toContainEqual(shown("/gone"));
  rmSync(other, { recursive: true });
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
