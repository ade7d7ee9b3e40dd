import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GateSettings } from "../../src/core/settings.ts";
import type { Gates } from "../../src/engine/ports.ts";

/** Gates, and commands that end in every way. */
export interface GatesSubject {
  readonly gates: Gates;
  readonly commands: Readonly<Record<"passes" | "fails" | "isMissing" | "neverEnds", string>>;
  dispose(): Promise<void>;
}

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

    test("aborting ends it soon and starts no other", async () => {
      const stop = new AbortController();
      const { neverEnds, passes } = subject.commands;
      const checking = subject.gates.check(
        [gate({ command: neverEnds }), gate({ command: passes })],
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
    ...over,
  };
}
