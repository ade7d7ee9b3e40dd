import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  supervise,
  type SuperviseRequest,
  type SuperviseResult,
} from "../../src/adapters/process/supervise.ts";
import { isAlive } from "../fixtures/is-alive.ts";

let count = 0;

async function run(
  script: string,
  over: Partial<SuperviseRequest> = {},
): Promise<SuperviseResult & { readonly output: string }> {
  count += 1;
  let output = "";
  const result = await supervise(
    {
      command: ["bash", "-c", script],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      marker: `ended-early-${process.pid}-${count}`,
      timeoutMs: 20_000,
      graceMs: 300,
      onStdout: (chunk) => void (output += chunk.toString()),
      onStderr: () => {},
      ...over,
    },
    new AbortController().signal,
  );
  return { ...result, output };
}

function pidsIn(output: string): readonly number[] {
  return [...output.matchAll(/pid=(\d+)/g)].map((match) => Number(match[1]));
}

function counter(): () => number {
  let value = 0;
  return () => (value += 1);
}

describe("a process without a sign of life", () => {
  const nextTree = counter();
  const idle = { afterMs: 1_500, toolCalls: () => 0, workTree: async () => "same" };

  test("is ended with all that came from it", async () => {
    const result = await run("setsid sleep 60 & echo pid=$!; echo pid=$$; wait", { idle });
    expect(result.ending).toEqual({ is: "idle", afterMs: 1_500 });
    expect(pidsIn(result.output)).toHaveLength(2);
    expect(pidsIn(result.output).some(isAlive)).toBe(false);
  });

  test("is killed after the grace when it ignores TERM", async () => {
    const result = await run("trap '' TERM; echo pid=$$; read -r never < <(sleep 60)", { idle });
    expect(result.ending.is).toBe("idle");
    expect(pidsIn(result.output).some(isAlive)).toBe(false);
  });

  test.concurrent("may be as quiet as it likes when nobody watches", async () => {
    expect((await run("sleep 4")).ending).toEqual({ is: "exited", code: 0 });
  });

  test.concurrent.each<[string, string, Partial<typeof idle>]>([
    ["prints", "for i in $(seq 40); do echo $i; sleep 0.1; done", {}],
    ["prints errors", "for i in $(seq 40); do echo $i >&2; sleep 0.1; done", {}],
    ["computes in another session", "setsid -w timeout 4 bash -c 'while :; do :; done' || true", {}],
    ["calls tools", "sleep 4", { toolCalls: counter() }],
    ["changes the work tree", "sleep 4", { workTree: async () => String(nextTree()) }],
  ])("is not one that %s", async (_, script, over) => {
    const { ending } = await run(script, { idle: { ...idle, ...over } });
    expect(ending).toEqual({ is: "exited", code: 0 });
  });
});

describe("after its final result", () => {
  /** Over as soon as it has printed the word. */
  function untilOver(exitMs: number): Partial<SuperviseRequest> & { readonly said: () => string } {
    let said = "";
    return {
      exitMs,
      isOver: () => said.includes("RESULT"),
      onStdout: (chunk) => void (said += chunk.toString()),
      said: () => said,
    };
  }

  test("a process that does not exit is ended, and that is no failure", async () => {
    const { said, ...request } = untilOver(300);
    const result = await run("setsid sleep 60 & echo pid=$! pid=$$; echo RESULT; wait", request);
    expect(result.ending).toEqual({ is: "exited", code: 0 });
    expect(pidsIn(said())).toHaveLength(2);
    expect(pidsIn(said()).some(isAlive)).toBe(false);
  });

  test("nor is it when it must be killed", async () => {
    const { said, ...request } = untilOver(300);
    const result = await run("trap '' TERM; echo pid=$$ RESULT; while :; do sleep 0.1; done", request);
    expect(result.ending).toEqual({ is: "exited", code: 0 });
    expect(pidsIn(said()).some(isAlive)).toBe(false);
  });

  test("what it does in its last seconds is its own", async () => {
    const { said, ...request } = untilOver(10_000);
    const result = await run("echo RESULT; sleep 0.5; echo goodbye; exit 3", request);
    expect(result.ending).toEqual({ is: "exited", code: 3 });
    expect(said()).toBe("RESULT\ngoodbye\n");
  });

  test("the timeout does not make a failure of it", async () => {
    const { ending } = await run("echo RESULT; sleep 60", { ...untilOver(10_000), timeoutMs: 2_000 });
    expect(ending).toEqual({ is: "exited", code: 0 });
  });

  test("the timeout makes a failure of one that began another turn", async () => {
    const { said, ...request } = untilOver(10_000);
    const isOver = (): boolean => said().endsWith("RESULT\n");
    const { ending } = await run("echo RESULT; sleep 0.5; echo MORE; sleep 60", {
      ...request,
      isOver,
      timeoutMs: 5_000,
    });
    expect(ending).toEqual({ is: "timed-out", afterMs: 5_000 });
  });

  test("nothing more is said to it", async () => {
    const onStdin = (write: (text: string) => Promise<boolean>): void => void write("prompt\n");
    const request = { ...untilOver(10_000), onStdin };
    expect((await run("read -r line; echo RESULT; cat; exit 4", request)).ending).toEqual({
      is: "exited",
      code: 4,
    });
  });

  test("one that never gives any is ended by the timeout", async () => {
    const { ending } = await run("echo words; sleep 60", { ...untilOver(100), timeoutMs: 700 });
    expect(ending).toEqual({ is: "timed-out", afterMs: 700 });
  });
});

describe("a jump of the wall clock", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([24, -24])("of %i hours ends nobody", async (hours) => {
    const before = Date.now();
    vi.useFakeTimers({ toFake: ["Date"] });
    const idle = { afterMs: 10_000, toolCalls: () => 0, workTree: async () => "same" };
    const running = run("sleep 1.5; exit 5", { timeoutMs: 15_000, idle });
    await sleep(300);
    vi.setSystemTime(before + hours * 3_600_000);
    expect((await running).ending).toEqual({ is: "exited", code: 5 });
  });

  test.each([24, -24])("of %i hours lets nobody stay", async (hours) => {
    const before = Date.now();
    vi.useFakeTimers({ toFake: ["Date"] });
    const running = run("sleep 60", { timeoutMs: 1_000 });
    await sleep(300);
    vi.setSystemTime(before + hours * 3_600_000);
    expect((await running).ending).toEqual({ is: "timed-out", afterMs: 1_000 });
  });
});

describe("a process that can be asked to stop", () => {
  const READS =
    'trap "echo TERM; exit 9" TERM; while read -r line; do echo "$line"; [ "$line" = stop ] && exit 0; done';

  function asked(words: string): Partial<SuperviseRequest> {
    let write: (text: string) => Promise<boolean> = async () => false;
    return {
      timeoutMs: 2_000,
      graceMs: 2_000,
      onStdin: (toStdin) => {
        write = toStdin;
      },
      askToStop: () => write(words),
    };
  }

  test("ends by itself, and is not told by a signal", async () => {
    const { ending, output } = await run(READS, asked("stop\n"));
    expect(ending).toEqual({ is: "timed-out", afterMs: 2_000 });
    expect(output).toBe("stop\n");
  });

  test("is ended when it does not listen", async () => {
    const { ending, output } = await run(READS, asked("please\n"));
    expect(ending).toEqual({ is: "timed-out", afterMs: 2_000 });
    expect(output).toBe("please\nTERM\n");
  });

  test("is ended at once when it cannot be asked", async () => {
    const { output } = await run(READS, { ...asked(""), askToStop: async () => false });
    expect(output).toBe("TERM\n");
  });
});
