import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GateSettings } from "../../src/core/settings.ts";
import type { Gates } from "../../src/engine/ports.ts";

/** Gates, and commands that end in every way. */
export interface GatesSubject {
  readonly gates: Gates;
  readonly commands: Readonly<Record<Command, string>>;
  dispose(): Promise<void>;
}

type Command = "passes" | "fails" | "isMissing" | "neverEnds" | "says42Passed" | "failsAtFirst";

export function describeGates(name: string, create: () => Promise<GatesSubject>): void {
  describe(`the gates run by ${name}`, () => {
    let subject: GatesSubject;

    beforeEach(async () => {
      subject = await create();
    });
    afterEach(() => subject.dispose());

    const check = (...gates: GateSettings[]): ReturnType<Gates["check"]> =>
      subject.gates.check(gates, "a-marker", new AbortController().signal);

    test("no gates, no results", async () => {
      expect(await check()).toEqual([]);
    });

    test("each gate has a result, in order, whatever the one before it said", async () => {
      const { passes, fails } = subject.commands;
      const results = await check(
        gate({ name: "one", command: fails }),
        gate({ name: "two", command: passes }),
      );
      expect(results.map(({ name, status }) => [name, status])).toEqual([
        ["one", "failed"],
        ["two", "passed"],
      ]);
      expect(results[1]?.exitCode).toBe(0);
      expect(results[0]?.exitCode).not.toBe(0);
    });

    test("a tool that is not installed is missing, or skipped where that was asked for", async () => {
      const command = subject.commands.isMissing;
      const results = await check(
        gate({ command, onMissing: "warn" }),
        gate({ command, onMissing: "fail" }),
        gate({ command, onMissing: "skip" }),
      );
      expect(results.map((result) => result.status)).toEqual(["missing", "missing", "skipped"]);
      expect(results.map((result) => result.onMissing)).toEqual(["warn", "fail", "skip"]);
    });

    test("what the settings say is part of the result", async () => {
      const [result] = await check(gate({ command: subject.commands.passes, name: "lint", required: false }));
      expect(result).toMatchObject({ name: "lint", required: false, onMissing: "warn" });
    });

    test("a gate that takes too long ends as that", async () => {
      const [result] = await check(gate({ command: subject.commands.neverEnds, timeoutMs: 200 }));
      expect(result).toMatchObject({ status: "timeout", exitCode: null });
    });

    test("a gate that ends well at once is run once, and nothing is unmet", async () => {
      const [result] = await check(gate({ command: subject.commands.passes, retries: 3 }));
      expect(result).toMatchObject({ status: "passed", tries: 1, unmet: null });
    });

    test("a gate that passes on a later try has passed", async () => {
      const [result] = await check(gate({ command: subject.commands.failsAtFirst, retries: 1 }));
      expect(result).toMatchObject({ status: "passed", tries: 2, exitCode: 0 });
    });

    test("a gate that always fails is run once and as often again as asked for", async () => {
      const { fails, isMissing } = subject.commands;
      const [failed, missing] = await check(
        gate({ command: fails, retries: 2 }),
        gate({ command: isMissing, retries: 2 }),
      );
      expect(failed).toMatchObject({ status: "failed", tries: 3, unmet: null });
      expect(missing).toMatchObject({ status: "missing", tries: 0, exitCode: null });
      expect(missing?.unmet).toBe(missing?.tail);
    });

    test("another exit code may be the expected one", async () => {
      const { fails, passes } = subject.commands;
      const exitCode = (await check(gate({ command: fails })))[0]?.exitCode ?? 0;
      const expected = { exitCode, outputContains: null, outputNotContains: null };
      const results = await check(
        gate({ command: fails, expect: expected }),
        gate({ command: passes, expect: expected }),
      );
      expect(results).toMatchObject([
        { status: "passed", exitCode, unmet: null },
        { status: "failed", exitCode: 0, unmet: `it exited with 0 instead of ${exitCode}` },
      ]);
    });

    test("the output may be what counts", async () => {
      const command = subject.commands.says42Passed;
      const saying = (outputContains: string | null, outputNotContains: string | null): GateSettings =>
        gate({ command, expect: { exitCode: 0, outputContains, outputNotContains } });
      const results = await check(
        saying("42 passed", "43 passed"),
        saying("43 passed", null),
        saying(null, "42 passed"),
      );
      expect(results.map(({ status, exitCode, unmet }) => [status, exitCode, unmet])).toEqual([
        ["passed", 0, null],
        ["failed", 0, 'its output does not contain "43 passed"'],
        ["failed", 0, 'its output contains "42 passed"'],
      ]);
    });

    test("aborting ends it soon and starts no other", async () => {
      const stop = new AbortController();
      const { neverEnds, passes } = subject.commands;
      const checking = subject.gates.check(
        [gate({ command: neverEnds, retries: 5 }), gate({ command: passes })],
        "m",
        stop.signal,
      );
      setTimeout(() => stop.abort(), 100);
      expect((await checking).length).toBeLessThan(2);
    });
  });
}

export function gate(over: Partial<GateSettings> = {}): GateSettings {
  return {
    name: "tests",
    command: "true",
    timeoutMs: 20_000,
    required: true,
    onMissing: "warn",
    cwd: null,
    env: {},
    kind: null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "require",
    ...over,
  };
}
