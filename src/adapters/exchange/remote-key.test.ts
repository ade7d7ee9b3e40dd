import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { remoteKey } from "./remote-key.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-test-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the key of a remote", () => {
  test.each([
    "https://github.com/Owner/Name",
    "https://github.com/owner/name.git",
    "https://github.com/owner/name.git/",
    "https://github.com/owner//name/",
    "https://user:secret@github.com/owner/name.git",
    "https://ghp_token@GitHub.com:443/owner/name",
    "http://github.com/owner/name?token=secret",
    "ssh://git@github.com/owner/name.git",
    "ssh://git@ssh.github.com:443/owner/name.git",
    "git@github.com:owner/name.git",
    "github.com:/owner/name",
    "[git@github.com:22]:owner/name.git",
    "git@[github.com]:owner/name",
    "git://github.com/owner/name.git",
    "git+ssh://git@github.com/owner/n%61me",
  ])("%s", (url) => {
    expect(remoteKey(url, folder)).toBe("github.com/owner/name");
  });

  test("elsewhere upper and lower case are two names", () => {
    expect(remoteKey("git@Git.Example.com:Team/App.git", folder)).toBe("git.example.com/Team/App");
    expect(remoteKey("ssh://git@git.example.com:2222/Team/App", folder)).toBe("git.example.com/Team/App");
  });

  test("on this machine every port is a server of its own", () => {
    expect(remoteKey("git://127.0.0.1:9418/a.git", folder)).toBe("127.0.0.1:9418/a");
    expect(remoteKey("http://[::1]:8080/a", folder)).toBe("[::1]:8080/a");
  });

  test("no password ever", () => {
    const urls = ["https://a:p@ss@h/x", "https://p%40ss@h/x", "p4ss@h:x", "ext::ssh://a:pass@h/x"];
    for (const url of urls) expect(remoteKey(url, folder)).not.toMatch(/p.*ss@|pass|p4ss/);
  });

  test("a path is known by where it really is", () => {
    mkdirSync(join(folder, "hub.git"));
    mkdirSync(join(folder, "work/.git"), { recursive: true });
    symlinkSync(join(folder, "hub.git"), join(folder, "link"));
    const hub = `file:${join(folder, "hub")}`;
    const forms = [`${folder}/hub.git`, `${folder}/hub`, "hub.git/", "./link", `file://${folder}/hub.git`];
    for (const form of [...forms, `file://localhost${folder}/link`, "x/../hub.git"])
      expect(remoteKey(form, folder)).toBe(hub);
    expect(remoteKey("work", folder)).toBe(`file:${join(folder, "work")}`);
    expect(remoteKey("work/.git", folder)).toBe(`file:${join(folder, "work")}`);
    expect(remoteKey("/nowhere/a b.git", folder)).toBe("file:/nowhere/a b");
  });
});
