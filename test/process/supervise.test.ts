import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  supervise,
  type SuperviseRequest,
  type SuperviseResult,
} from "../../src/adapters/process/supervise.ts";
import { eventually, isAlive } from "../fixtures/is-alive.ts";
import { temporaryRepository } from "../fixtures/temporary-repository.ts";
import { startFixture } from "../fixtures/start-fixture.ts";

interface Run extends SuperviseResult {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly tookMs: number;
}

async function run(
  script: string,
  over: Partial<SuperviseRequest> = {},
  signal = new AbortController().signal,
): Promise<Run> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const started = performance.now();
  const result = await supervise(
    {
      command: ["bash", "-c", script],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      marker: newMarker(),
      timeoutMs: 20_000,
      graceMs: 300,
      onStdout: (chunk) => void stdout.push(chunk),
      onStderr: (chunk) => void stderr.push(chunk),
      ...over,
    },
    signal,
  );
  const tookMs = performance.now() - started;
  return { ...result, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString(), tookMs };
}

/** Long before the minute that the processes would live by themselves, however busy the machine. */
const SOON_MS = 15_000;

let markers = 0;
function newMarker(): string {
  markers += 1;
  return `supervise-test-${process.pid}-${markers}`;
}

/** The script, and then waiting until what it started has made the file $READY. */
function awaitReady(script: string): string {
  return `export READY=$(mktemp -u); ${script} until test -e $READY; do sleep 0.02; done; rm $READY`;
}

/** Every number that the script printed as `pid=…`. */
function pidsIn({ stdout }: { readonly stdout: Buffer }): number[] {
  return [...stdout.toString().matchAll(/pid=(\d+)/g)].map((match) => Number(match[1]));
}

describe("how it ends", () => {
  test("with an exit code, and everything that was printed", async () => {
    const result = await run("echo out; echo err >&2; exit 3");
    expect(result.ending).toEqual({ is: "exited", code: 3 });
    expect(result.stdout.toString()).toBe("out\n");
    expect(result.stderr).toBe("err\n");
    expect(result.swept).toBe(0);
  });

  test("by a signal", async () => {
    expect((await run("kill -KILL $$")).ending).toEqual({ is: "signalled", signal: "SIGKILL" });
  });

  test.each<[string, Partial<SuperviseRequest>, RegExp]>([
    [
      "a program that does not exist",
      { command: ["no-such-program-here"] },
      /"no-such-program-here": it was not found/,
    ],
    ["a file that is no program", { command: ["/etc/passwd"] }, /"\/etc\/passwd": it is not executable/],
    [
      "a folder that does not exist",
      { cwd: "/no/such/folder" },
      /the folder \/no\/such\/folder does not exist/,
    ],
    ["no command", { command: [] }, /the command is empty/],
    ["an argument that cannot be", { command: ["echo", "a\0b"] }, /cannot start "echo": /],
    ["an argument that is too long", { command: ["echo", "x".repeat(300_000)] }, /arguments are too long/],
  ])("not at all: %s", async (_, over, message) => {
    const { ending, swept } = await run("", over);
    expect(ending).toEqual({ is: "not-started", message: expect.stringMatching(message) });
    expect(swept).toBe(0);
  });

  test("after the timeout, with time to clean up", async () => {
    const result = await run("trap 'echo cleaning; exit 0' TERM; echo ready; sleep 60 & wait", {
      timeoutMs: 1_500,
      graceMs: 20_000,
    });
    expect(result.ending).toEqual({ is: "timed-out", afterMs: 1_500 });
    expect(result.stdout.toString()).toBe("ready\ncleaning\n");
    expect(result.tookMs).toBeLessThan(20_000);
  });

  test("after the timeout and the grace, when it ignores TERM", async () => {
    const result = await run("trap '' TERM; echo pid=$$; while :; do sleep 0.1; done", {
      timeoutMs: 1_500,
      graceMs: 400,
    });
    expect(result.ending).toEqual({ is: "timed-out", afterMs: 1_500 });
    expect(result.durationMs).toBeGreaterThan(1_890);
    expect(result.tookMs).toBeLessThan(SOON_MS);
    expect(pidsIn(result).some(isAlive)).toBe(false);
  });

  test("when it is told to stop", async () => {
    const controller = new AbortController();
    const running = run("echo pid=$$; sleep 60", {}, controller.signal);
    await sleep(200);
    controller.abort();
    const result = await running;
    expect(result.ending).toEqual({ is: "stopped" });
    expect(result.tookMs).toBeLessThan(SOON_MS);
    expect(pidsIn(result).some(isAlive)).toBe(false);
  });

  test("before it starts, when it is told to stop by then", async () => {
    const result = await run("echo out", {}, AbortSignal.abort());
    expect(result).toMatchObject({ ending: { is: "stopped" }, durationMs: 0, stdout: Buffer.alloc(0) });
  });

  test("as a process that is stopped (SIGSTOP) and never wakes up", async () => {
    const result = await run("echo pid=$$; kill -STOP $$", { timeoutMs: 300, graceMs: 300 });
    expect(result.ending.is).toBe("timed-out");
    expect(pidsIn(result).some(isAlive)).toBe(false);
  });
});

describe("nothing is left behind:", () => {
  test.each<[string, string]>([
    ["a child that holds the output", "sleep 60 & echo pid=$!"],
    [
      "a child in a session of its own",
      "setsid sleep 60 & sleep 0.1; echo pid=$(pgrep -n -P $$ sleep || echo $!)",
    ],
    [
      "a child in a session of its own without our output",
      "setsid sleep 60 >/dev/null 2>&1 </dev/null & echo pid=$!",
    ],
    ["a child in a group of its own", "set -m; sleep 60 & echo pid=$!"],
    ["a child without the marker", "env -i sleep 60 & echo pid=$!"],
    ["a child that is stopped", "sleep 60 & echo pid=$!; kill -STOP $!"],
    ["a daemon", awaitReady("(setsid sh -c 'echo pid=$$; : > $READY; exec sleep 60' &);")],
    ...(process.platform === "linux"
      ? [
          [
            "a daemon that has cleared its environment",
            awaitReady('(env -i READY=$READY setsid sh -c "echo pid=\\$\\$; : > $READY; exec sleep 60" &);'),
          ] as [string, string],
        ]
      : []),
  ])("%s", async (_, script) => {
    const result = await run(script);
    expect(result.ending).toEqual({ is: "exited", code: 0 });
    expect(pidsIn(result)).toHaveLength(1);
    expect(pidsIn(result).some(isAlive)).toBe(false);
    expect(result.swept).toBeGreaterThan(0);
    expect(result.tookMs).toBeLessThan(SOON_MS);
  });

  test("a child that ignores TERM in a session of its own", async () => {
    const result = await run(
      awaitReady("setsid bash -c \"trap '' TERM; echo pid=\\$\\$; : > $READY; while :; do sleep 1; done\" &"),
    );
    expect(pidsIn(result)).toHaveLength(1);
    expect(pidsIn(result).some(isAlive)).toBe(false);
    expect(result.tookMs).toBeLessThan(SOON_MS);
  });

  test("a child that another one replaces when it is told to stop", async () => {
    // It tells who comes next itself: that one may be ended before it can say a word.
    const handOver = "setsid sleep 60 & echo pid=\\$!; exit";
    const result = await run(
      awaitReady(`setsid bash -c "trap '${handOver}' TERM; echo ready; : > $READY; sleep 60 & wait" &`),
    );
    expect(result.stdout.toString()).toContain("ready");
    expect(pidsIn(result)).toHaveLength(1);
    expect(pidsIn(result).some(isAlive)).toBe(false);
  });

  test("a child that is just becoming another program, for every one of many", async () => {
    const lane = async (): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        const result = await run("setsid setsid sleep 60 >/dev/null 2>&1 & echo pid=$!");
        expect(pidsIn(result).some(isAlive)).toBe(false);
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
  });

  test("children of one that timed out", async () => {
    const result = await run("setsid sleep 60 & echo pid=$!; sleep 60 & echo pid=$!; wait", {
      timeoutMs: 1_500,
    });
    expect(result.ending.is).toBe("timed-out");
    expect(pidsIn(result)).toHaveLength(2);
    expect(pidsIn(result).some(isAlive)).toBe(false);
  });

  test("except what another one started", async () => {
    const controller = new AbortController();
    const marker = newMarker();
    const pids: number[] = [];
    const other = run(
      "setsid sleep 60 & echo pid=$!; sleep 60 & echo pid=$!; echo pid=$$; wait",
      { marker: `${marker}-2`, onStdout: (chunk) => void pids.push(...pidsIn({ stdout: chunk })) },
      controller.signal,
    );
    expect(await eventually(() => pids.length === 3)).toBe(true);
    const lanes = ["", "-", "-20", "2"].map((suffix) =>
      run("setsid sleep 60 & sleep 0.2", { marker: marker + suffix }),
    );
    for (const { swept } of await Promise.all(lanes)) expect(swept).toBe(1);
    expect(pids.every(isAlive)).toBe(true);
    controller.abort();
    expect((await other).ending).toEqual({ is: "stopped" });
    expect(pids.some(isAlive)).toBe(false);
  });
});

describe("what it prints", () => {
  test("is kept to the last byte, however slow the reader", async () => {
    const chunks: Buffer[] = [];
    await run("head -c 1000000 /dev/zero; echo end", {
      onStdout: async (chunk) => {
        await sleep(5);
        chunks.push(chunk);
      },
    });
    const all = Buffer.concat(chunks);
    expect(all.length).toBe(1_000_004);
    expect(all.subarray(-4).toString()).toBe("end\n");
  });

  test("is kept when a child says the last words just after", async () => {
    const result = await run("echo first; exec > >(sleep 0.05; cat); echo last");
    expect(result.stdout.toString()).toBe("first\nlast\n");
    expect(result.swept).toBe(0);
  });

  test("is not awaited from a stranger who holds the output and talks for ever", async () => {
    const result = await run(
      "(env -i setsid bash -c 'while :; do echo again; done' &) ; sleep 0.1; echo end",
    );
    expect(result.stdout.toString()).toContain("end\n");
    expect(result.tookMs).toBeLessThan(SOON_MS);
  });

  test("comes as it is, whatever the bytes", async () => {
    const { stdout } = await run(String.raw`printf '\000\377\376\r\n\001%s' "no newline"`);
    expect(stdout).toEqual(Buffer.from("\0\xff\xfe\r\n\x01no newline", "latin1"));
  });

  test("stops it when nobody can take it", async () => {
    let pids: number[] = [];
    const running = run("echo pid=$$; while :; do echo more; sleep 0.01; done", {
      onStdout: (stdout) => {
        pids = pidsIn({ stdout });
        return Promise.reject(new Error("no room"));
      },
    });
    await expect(running).rejects.toThrow("no room");
    expect(pids).toHaveLength(1);
    expect(pids.some(isAlive)).toBe(false);
  });

  test("stops it when taking it fails at once", async () => {
    const onStderr = (): void => {
      throw new Error("no room");
    };
    await expect(run("echo more >&2; sleep 60", { onStderr })).rejects.toThrow("no room");
  });
});

describe("its input", () => {
  test("is what it is given, then ends", async () => {
    const input = "é".repeat(2_500_000);
    const { stdout } = await run("sha256sum", { input });
    expect(stdout.toString()).toContain(createHash("sha256").update(input).digest("hex"));
  });

  test("is empty when there is none", async () => {
    expect((await run("cat; echo end")).stdout.toString()).toBe("end\n");
  });

  test("may stay unread", async () => {
    const result = await run("sleep 0.2; echo end", { input: "x".repeat(5_000_000) });
    expect(result).toMatchObject({ ending: { is: "exited", code: 0 } });
    expect(result.stdout.toString()).toBe("end\n");
  });

  test("may stay unread by one that closes it", async () => {
    const result = await run("exec 0<&-; sleep 0.2; echo end", { input: "x".repeat(5_000_000) });
    expect(result.ending).toEqual({ is: "exited", code: 0 });
  });
});

test("time in which we ourselves are stopped does not count, and who ended meanwhile has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ralph-begun-"));
  const begun = (name: string): string => `: > ${join(folder, name)}`;
  const fixture = startFixture(
    "supervise-commands",
    "3000",
    `${begun("a")}; sleep 1`,
    "3000",
    `${begun("b")}; sleep 4.5; exit 7`,
    "400",
    `${begun("c")}; sleep 60`,
  );
  expect(await eventually(() => readdirSync(folder).length === 3)).toBe(true);
  await sleep(500);
  fixture.process.kill("SIGSTOP");
  await sleep(3_600);
  fixture.process.kill("SIGCONT");
  expect(await fixture.result).toEqual([
    { is: "exited", code: 0 },
    { is: "exited", code: 7 },
    { is: "timed-out", afterMs: 400 },
  ]);
  rmSync(folder, { recursive: true });
});

describe("git's own housekeeping", () => {
  test("is over when a commit is, and nothing of it has to be swept", async () => {
    const repository = temporaryRepository();
    repository.git("config", "gc.auto", "1");
    const commits =
      "for i in $(seq 1500); do echo $i > $i; done; git add .; git commit -qm many; git commit -q --allow-empty -m more";
    const result = await run(commits, { cwd: repository.root });
    expect(result).toMatchObject({ ending: { is: "exited", code: 0 }, swept: 0 });
    expect(repository.git("count-objects", "-v")).toMatch(/^packs: 1$/m);
    repository.dispose();
  });

  test("settings in the environment stay", async () => {
    const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Ada" };
    const path = { PATH: process.env["PATH"] ?? "" };
    const { stdout } = await run("git config user.name; git config gc.autoDetach", {
      env: { ...env, ...path },
    });
    expect(stdout.toString()).toBe("Ada\nfalse\n");
  });
});
