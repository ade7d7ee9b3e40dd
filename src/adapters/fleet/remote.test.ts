import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Machine, type Machines, twoMachines } from "../../../test/fixtures/two-machines.ts";
import { createRemote, type Remote, type RemoteOptions, remoteKey, type RemoteTrouble } from "./remote.ts";

const MAIN = "refs/heads/main";

let machines: Machines;
let here: Machine;
let troubles: RemoteTrouble[];

beforeEach(() => {
  machines = twoMachines();
  here = machines.machine("here");
  troubles = [];
});
afterEach(() => machines.dispose());

function remoteOf(over: Partial<RemoteOptions> = {}): Remote {
  const onTrouble = (trouble: RemoteTrouble): void => void troubles.push(trouble);
  return createRemote({ root: here.root, env: process.env, pauseMs: 20, onTrouble, ...over });
}

describe("the remote", () => {
  test("one key for all clones of it", async () => {
    const there = machines.machine("there", `file://${machines.hub}`);
    expect(await remoteOf().projectKey()).toBe(await remoteOf({ root: there.root }).projectKey());
    here.git("remote", "set-url", "origin", "https://me:secret@github.com/Team/App.git");
    expect(await remoteOf().projectKey()).toBe("github.com/team/app");
  });

  test("a repository without one is told", async () => {
    here.git("remote", "remove", "origin");
    await expect(remoteOf().projectKey()).rejects.toThrow("and this repository has no remote");
  });

  test("of several, the one that is given, or the base's, or origin", async () => {
    here.git("remote", "add", "other", "https://example.com/other.git");
    expect(await remoteOf().projectKey()).toBe(`file:${machines.hub.replace(/\.git$/, "")}`);
    expect(await remoteOf({ remote: "other" }).projectKey()).toBe("example.com/other");
    here.git("config", "branch.main.remote", "other");
    expect(await remoteOf({ base: "main" }).projectKey()).toBe("example.com/other");
    await expect(remoteOf({ remote: "none" }).projectKey()).rejects.toThrow("No such remote");
  });

  test("a shallow clone is refused: it cannot merge", async () => {
    here.commit("second");
    here.git("push", "--quiet", "origin", "main");
    here.git("clone", "--quiet", "--depth=1", `file://${machines.hub}`, `${machines.folder}/flat`);
    const refused = remoteOf({ root: `${machines.folder}/flat` }).projectKey();
    await expect(refused).rejects.toThrow("is a shallow clone");
  });
});

describe("a branch of the remote", () => {
  test("is fetched as it is there by now, and nothing of the user's moves", async () => {
    const there = machines.machine("there");
    const head = there.commit("news");
    there.git("push", "--quiet", "origin", "main", "main:refs/heads/ralph/a");
    const before = here.git("for-each-ref", "refs/heads", "refs/remotes");
    expect(await remoteOf().fetch(MAIN, null)).toBe(head);
    expect(await remoteOf().fetch("refs/heads/ralph/a", null)).toBe(head);
    expect(here.git("for-each-ref", "refs/heads", "refs/remotes")).toBe(before);
    expect(here.git("cat-file", "-t", head)).toBe("commit");
    there.git("push", "--quiet", "origin", ":refs/heads/ralph/a");
    expect(await remoteOf().fetch("refs/heads/ralph/a", null)).toBeNull();
  });

  test("many at once", async () => {
    const remote = remoteOf();
    const tips = await Promise.all(Array.from({ length: 12 }, () => remote.fetch(MAIN, null)));
    expect(new Set(tips)).toEqual(new Set([machines.there(MAIN)]));
    expect(troubles).toEqual([]);
  });
});

describe("trouble", () => {
  test("a remote that is gone is told at once where nothing is held", async () => {
    renameSync(machines.hub, `${machines.hub}~`);
    await expect(remoteOf().fetch(MAIN, null)).rejects.toMatchObject({ code: "unreachable" });
    expect(troubles).toMatchObject([{ remote: "origin", tries: 1, againInMs: null }]);
  });

  test("it is waited for while something is held, and every try is told", async () => {
    renameSync(machines.hub, `${machines.hub}~`);
    const onTrouble = (trouble: RemoteTrouble): void => {
      troubles.push(trouble);
      if (troubles.length === 3) renameSync(`${machines.hub}~`, machines.hub);
    };
    const tips = remoteOf({ onTrouble, isHeld: () => true }).fetch(MAIN, "task-001");
    expect(await tips).toBe(machines.there(MAIN));
    expect(troubles.map(({ tries, againInMs }) => [tries, againInMs])).toEqual([
      [1, 20],
      [2, 40],
      [3, 80],
    ]);
  });

  test("nobody waits for what is held no longer", async () => {
    renameSync(machines.hub, `${machines.hub}~`);
    const isHeld = (holder: string | null): boolean => holder === "task-001" && troubles.length === 0;
    const tips = remoteOf({ isHeld }).fetch(MAIN, "task-001");
    await expect(tips).rejects.toMatchObject({ code: "lease-lost" });
  });

  test("a remote that hangs is given up", async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    here.git("remote", "set-url", "origin", `git://127.0.0.1:${portOf(server)}/a.git`);
    const tips = remoteOf({ patienceMs: 300 }).fetch(MAIN, null);
    await expect(tips).rejects.toThrow("the remote origin does not answer: it did not answer in time");
    server.close();
  });

  test.each([401, 403])(
    "a server that says %s is no trouble that passes, and no password is told",
    async (status) => {
      const server = createServer((socket) => {
        socket.end(
          `HTTP/1.1 ${status} no\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
      });
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      here.git("remote", "set-url", "origin", `http://me:s3cret@127.0.0.1:${portOf(server)}/a.git`);
      const failed = await remoteOf({ isHeld: () => true })
        .fetch(MAIN, null)
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({
        code: "git-failed",
        message: expect.stringContaining("does not let us in") as string,
      });
      expect(String(failed)).not.toContain("s3cret");
      expect(troubles).toEqual([]);
      server.close();
    },
  );

  test("a server that is overloaded is waited for", async () => {
    const server = createServer((socket) => {
      socket.end("HTTP/1.1 503 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    here.git("remote", "set-url", "origin", `http://me:s3cret@127.0.0.1:${portOf(server)}/a.git`);
    await expect(remoteOf().fetch(MAIN, null)).rejects.toMatchObject({ code: "unreachable" });
    expect(JSON.stringify(troubles)).not.toContain("s3cret");
    server.close();
  });

  test("an error that is ours is told, not waited out", async () => {
    const tips = remoteOf({ isHeld: () => true }).fetch("refs/heads/not a name", null);
    await expect(tips).rejects.toMatchObject({ code: "git-failed" });
  });
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

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
