import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gate } from "../../../test/contract/gates.contract.ts";
import type { GateResult } from "../../core/verdict/checked-gate.ts";
import type { GateExpectation, GateSettings } from "../../core/settings.ts";
import { createGates } from "./shell-gates.ts";

let cwd: string;

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "ralph-test-")));
});
afterEach(() => rmSync(cwd, { recursive: true }));

async function run(over: Partial<GateSettings>, env: Record<string, string> = {}): Promise<GateResult> {
  const gates = createGates({
    cwd,
    baseEnv: { PATH: process.env["PATH"] ?? "", ...env },
    redact: (text) => text.replaceAll("hunter2hunter2", "[redacted]"),
    ownRoot: "/opt/ralph",
  });
  const [result] = await gates.check([gate(over)], "marker-of-the-iteration", new AbortController().signal);
  return result!;
}

const expecting = (over: Partial<GateExpectation>): GateExpectation => ({ ...gate().expect, ...over });

test("output of both kinds is kept, in the order it came", async () => {
  const { tail, status, exitCode } = await run({
    command: "echo one; echo two >&2; sleep 1; echo three; exit 2",
  });
  expect(tail.split("\n").toSorted()).toEqual(["one", "three", "two"]);
  expect(tail.endsWith("three")).toBe(true);
  expect([status, exitCode]).toEqual(["failed", 2]);
});

test("the last two hundred lines are kept", async () => {
  const { tail } = await run({ command: "seq 1 5000" });
  expect(tail.split("\n")).toHaveLength(200);
  expect(tail.startsWith("4801\n")).toBe(true);
  expect(tail.endsWith("\n5000")).toBe(true);
});

test("however long the lines are, it stays small", async () => {
  const { tail } = await run({
    command: "for i in $(seq 1 100); do printf %2000d $i; echo; done; printf %1000000d 7",
  });
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(16_384);
  expect(tail.endsWith("7")).toBe(true);
});

test("a gigantic output costs no memory", async () => {
  const before = process.memoryUsage().rss;
  const { status, tail } = await run({ command: "yes ä | head -c 100000000; echo; echo end" });
  expect(status).toBe("passed");
  expect(tail.endsWith("\nend")).toBe(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

test("colours, bells and rewritten lines are made plain", async () => {
  const { tail } = await run({
    command: String.raw`printf '\033[31mred\033[0m\n10%%\r50%%\r100%%\r\nend\007'`,
  });
  expect(tail).toBe("red\n100%\nend");
});

test("secrets are hidden", async () => {
  expect((await run({ command: "echo key=hunter2hunter2" })).tail).toBe("key=[redacted]");
});

test("its folder is the workspace, or one below it", async () => {
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  expect((await run({ command: "pwd" })).tail).toBe(cwd);
  expect((await run({ command: "pwd", cwd: "packages/a" })).tail).toBe(join(cwd, "packages/a"));
});

test.each([
  ["nowhere", "does not exist in the workspace"],
  ["file/below", "does not exist in the workspace"],
  ["file", "is not a folder"],
  ["..", "leads outside of the workspace"],
  ["a/../../..", "leads outside of the workspace"],
  ["/tmp", "leads outside of the workspace"],
  ["away", "leads outside of the workspace"],
  ["away/bin", "leads outside of the workspace"],
  ["around", "leads outside of the workspace"],
  ["a\0b", "cannot be used"],
])("the folder %j is a failure that says why", async (folder, why) => {
  writeFileSync(join(cwd, "file"), "");
  symlinkSync("/usr", join(cwd, "away"));
  symlinkSync("around", join(cwd, "around"));
  const result = await run({ cwd: folder, command: "echo ran", retries: 3 });
  expect(result).toMatchObject({ status: "failed", exitCode: null, tries: 0 });
  expect(result.tail).toContain(`its folder "${folder}" ${why}`);
  expect(result.unmet).toBe(result.tail);
});

test("a link to another folder of the workspace is followed", async () => {
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  symlinkSync("packages/a", join(cwd, "link"));
  expect((await run({ command: "pwd", cwd: "link" })).tail).toBe(join(cwd, "packages/a"));
});

test("it gets the environment it was given, its own variables last, and an empty stdin", async () => {
  const command = 'echo "$GIVEN $OWN $RALPH_MARKER"; cat; env | grep -c SECRET_OF_THE_TEST';
  process.env["SECRET_OF_THE_TEST"] = "1";
  const { tail } = await run({ command, env: { OWN: "own" } }, { GIVEN: "given", OWN: "base" });
  expect(tail).toBe("given own marker-of-the-iteration\n0");
});

test("our own programs are not in its search path", async () => {
  const { tail } = await run(
    { command: "echo $PATH" },
    { PATH: "/opt/ralph/node_modules/.bin:/usr/bin:/bin" },
  );
  expect(tail).toBe("/usr/bin:/bin");
});

test.each([
  ["no-such-tool"],
  ["  A=1 B='x y' no-such-tool -q"],
  ['"no-such-tool" .'],
  ["no-such-tool | cat"],
  ["no-such-tool>out; true"],
  ["CI=1 no-such-tool || exit 1"],
  ["/opt/no-such-folder/tool"],
  ["../no-such-folder/tool"],
])("a gate is not run when its program is not installed: %s", async (command) => {
  const { status, tail, tries, exitCode, unmet } = await run({ command });
  expect({ status, tries, exitCode, unmet }).toEqual({
    status: "missing",
    tries: 0,
    exitCode: null,
    unmet: tail,
  });
  expect(tail).toMatch(/tool is not installed$/);
});

test.each([
  ["cd . && true"],
  ["[ -d . ]"],
  ["[[ -d . ]] || true"],
  ["! false"],
  ["(true)"],
  ["{ true; }"],
  ["if true; then true; fi"],
  ["for i in 1 2; do true; done"],
  [": nothing"],
  ["exec true"],
  ["A=1"],
  ["A=$(echo x y) true"],
  ['"$NOTHING"true'],
  ["$NO_SUCH_TOOL true"],
  ["~/no-such-tool || true"],
  ["PATH=$PWD/bin:$PATH own"],
  ["bin/own"],
  ["'./bin/own' -q"],
])("what the shell itself understands is run: %s", async (command) => {
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/own"), "#!/bin/sh\n", { mode: 0o755 });
  expect((await run({ command })).status).toBe("passed");
});

test("a program is looked up where the gate runs, with the gate's own PATH", async () => {
  mkdirSync(join(cwd, "web/bin"), { recursive: true });
  writeFileSync(join(cwd, "web/bin/own"), "#!/bin/sh\n", { mode: 0o755 });
  const PATH = `bin:${process.env["PATH"]}`;
  expect((await run({ command: "own", cwd: "web", env: { PATH } })).status).toBe("passed");
  expect((await run({ command: "own", env: { PATH } })).status).toBe("missing");
  expect(await run({ command: "own", env: { PATH: "/nowhere" } })).toMatchObject({
    tail: "sh is not installed",
  });
});

test.each([["sh check.sh"], ["cd . && no-such-tool"], ["./own"]])(
  "a gate that ends with 127 because of a tool is missing: %s",
  async (command) => {
    writeFileSync(join(cwd, "check.sh"), "no-such-tool\n");
    writeFileSync(join(cwd, "own"), "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await run({ command })).toMatchObject({
      status: "missing",
      exitCode: 127,
      unmet: "it exited with 127: a program that it calls is not installed",
    });
  },
);

test.each([
  ["./check.sh"],
  ["sh check.sh"],
  ["bash check.sh"],
  ["cd bin && ../check.sh"],
  ["sh bin/outer.sh"],
  ["bash bin/outer.sh"],
  ["python3 check.py"],
])("a gate fails when a file of the repository is gone: %s", async (command) => {
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/outer.sh"), "./inner.sh\n");
  expect((await run({ command })).status).toBe("failed");
});

test("a tool that Python lacks is missing; a module of the project's own is not", async () => {
  const script = `#!/bin/sh\ncase "$1 $2" in -c*'"pytest"'*) echo False;; -c*) echo True;; *) exit 1;; esac\n`;
  writeFileSync(join(cwd, "python3"), script, { mode: 0o755 });
  expect(await run({ command: "CI=1 ./python3 -m pytest -q" })).toMatchObject({
    status: "missing",
    tail: "pytest for ./python3 is not installed",
  });
  expect((await run({ command: "./python3 -m mypy" })).status).toBe("failed");
  expect((await run({ command: "./python3 -m own.module" })).status).toBe("failed");
});

test("talk of something not found is no missing program", async () => {
  expect((await run({ command: "echo 'sh: 1: other: not found'; exit 1" })).status).toBe("failed");
  expect((await run({ command: "echo 'page not found'; exit 1" })).status).toBe("failed");
});

test("what is expected to end with 127 is not missing when it does", async () => {
  expect((await run({ command: "exit 127", expect: expecting({ exitCode: 127 }) })).status).toBe("passed");
  const failed = await run({ command: "exit 1", expect: expecting({ exitCode: 127 }) });
  expect(failed).toMatchObject({ status: "failed", unmet: "it exited with 1 instead of 127" });
  expect((await run({ command: "no-such-tool", expect: expecting({ exitCode: 1 }) })).status).toBe("missing");
});

test("a text is found in the whole output, through colours, on both streams", async () => {
  const early = String.raw`printf '\033[32m42\033[0m passed\n'; seq 1 50000`;
  const wanted = expecting({ outputContains: "42 passed", outputNotContains: "1 failed" });
  expect((await run({ command: early, expect: wanted })).status).toBe("passed");
  expect((await run({ command: `(${early}) >&2`, expect: wanted })).status).toBe("passed");
  expect(await run({ command: `${early}; echo 1 failed >&2`, expect: wanted })).toMatchObject({
    status: "failed",
    exitCode: 0,
    unmet: 'its output contains "1 failed"',
  });
});

test("the streams are not mixed up when a text is looked for", async () => {
  const command = "printf 42; printf ' ' >&2; sleep 0.1; printf ' passed'";
  const result = await run({ command, expect: expecting({ outputContains: "42 passed" }) });
  expect(result.status).toBe("passed");
});

test("a secret that is looked for is hidden in the reason", async () => {
  const { unmet } = await run({ expect: expecting({ outputContains: "hunter2hunter2" }) });
  expect(unmet).toBe('its output does not contain "[redacted]"');
});

test("a gate that fails by chance is run again, and its last output is kept", async () => {
  const command = 'echo x >> runs; echo "run $(wc -l < runs)"; test $(wc -l < runs) -ge 3';
  const result = await run({ command, retries: 5 });
  expect(result).toMatchObject({ status: "passed", exitCode: 0, tries: 3 });
  expect(result.tail.replaceAll(/ +/g, " ")).toBe("run 3");
});

test("one that hung is run again; the time of all tries counts", async () => {
  const result = await run({
    command: "test -e hung || { touch hung; sleep 60; }",
    timeoutMs: 2_000,
    retries: 1,
  });
  expect(result).toMatchObject({ status: "passed", tries: 2 });
  expect(result.durationMs).toBeGreaterThanOrEqual(2_000);
});

test("a gate that dies of a signal has failed", async () => {
  expect(await run({ command: "kill -9 $$" })).toMatchObject({ status: "failed", exitCode: null });
});

test("what it leaves running does not hold it, and is ended", async () => {
  const started = performance.now();
  const { status } = await run({ command: "sleep 60 & echo $! > pid; echo ok" });
  expect(status).toBe("passed");
  expect(performance.now() - started).toBeLessThan(60_000);
  // A dead process that nobody has waited for yet still has a number.
  const isAlive = "ps -o stat= -p $(cat pid) | grep -v Z";
  expect((await run({ command: isAlive })).status).toBe("failed");
});
