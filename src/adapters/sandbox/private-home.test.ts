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
import { privateHome } from "./private-home.ts";
import { shown } from "./place.ts";

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
