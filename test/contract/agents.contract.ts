import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentReport } from "../../src/core/streams/agent-report.ts";
import type { AgentRequest, Agents } from "../../src/engine/ports.ts";

/** What an agent can be made to do in a test. */
export type AgentBehaviour =
  | { readonly does: "completes" }
  | { readonly does: "says"; readonly text: string }
  | { readonly does: "promises"; readonly promise: string }
  | { readonly does: "blocks"; readonly reason: string }
  | { readonly does: "asks"; readonly question: string }
  | { readonly does: "fails"; readonly exitCode: number }
  | { readonly does: "hangs" }
  /** Waits for a message, repeats it, and goes. */
  | { readonly does: "listens" }
  /** Exits and leaves a process behind. */
  | { readonly does: "leaves" }
  /** Cannot even be started. */
  | { readonly does: "nothing" };

export interface AgentsSubject {
  readonly agents: Agents;
  /** A request whose agent will behave like this; each has its own iteration and marker. */
  request(behaviour: AgentBehaviour): AgentRequest;
  /** How many processes of this iteration are there now. */
  alive(marker: string): number;
  /** The whole transcript. */
  transcript(report: AgentReport): Promise<Buffer>;
  now(): number;
  dispose(): Promise<void>;
}

/** What every way to run agents must do. */
export function describeAgents(name: string, create: () => Promise<AgentsSubject>): void {
  describe(`agents that are ${name}`, () => {
    let subject: AgentsSubject;
    beforeEach(async () => {
      subject = await create();
    });
    afterEach(() => subject.dispose());

    const never = new AbortController().signal;
    const run = (behaviour: AgentBehaviour, over: Partial<AgentRequest> = {}): Promise<AgentReport> =>
      subject.agents.run({ ...subject.request(behaviour), ...over }, never);

    test("an agent that completes says so, and nothing failed", async () => {
      const report = await run({ does: "completes" });
      expect(report).toMatchObject({
        ending: { is: "exited", code: 0 },
        claim: { is: "complete", promise: "COMPLETE" },
        failure: null,
        sweptProcesses: 0,
      });
      expect(report.durationMs).toBeGreaterThanOrEqual(0);
    });

    test("the transcript holds every word, with its size and hash", async () => {
      const report = await run({ does: "says", text: "some words\nand é" });
      const bytes = await subject.transcript(report);
      expect(bytes.toString()).toContain("some words\nand é");
      expect(report.transcript.bytes).toBe(bytes.length);
      expect(report.transcript.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect(report.finalText).toContain("some words\nand é");
    });

    test("numbers that nobody knows are null", async () => {
      const { usage } = await run({ does: "says", text: "hi" });
      for (const value of Object.values(usage)) expect(value === null || Number(value) > 0).toBe(true);
    });

    test("an agent that just talks claims nothing", async () => {
      expect((await run({ does: "says", text: "I am done" })).claim).toEqual({ is: "none" });
    });

    test("a promise of something else claims nothing", async () => {
      expect((await run({ does: "promises", promise: "SOMETHING ELSE" })).claim).toEqual({ is: "none" });
    });

    test("the expected promise is the one of the request", async () => {
      const promise = { completion: "SOMETHING ELSE", requireXml: true };
      const report = await run({ does: "promises", promise: "SOMETHING ELSE" }, { promise });
      expect(report.claim).toEqual({ is: "complete", promise: "SOMETHING ELSE" });
    });

    test("a blocker and a question are claims", async () => {
      expect((await run({ does: "blocks", reason: "no key" })).claim).toEqual({
        is: "blocked",
        reason: "no key",
      });
      expect((await run({ does: "asks", question: "SQL or files?" })).claim).toMatchObject({
        is: "undecided",
        question: "SQL or files?",
      });
    });

    test("an agent that fails is the agent's failure", async () => {
      const report = await run({ does: "fails", exitCode: 9 });
      expect(report).toMatchObject({ ending: { is: "exited", code: 9 }, failure: { class: "agent" } });
    });

    test("an agent that cannot be started is the configuration's failure, and has an empty transcript", async () => {
      const report = await run({ does: "nothing" });
      expect(report).toMatchObject({ ending: { is: "not-started" }, failure: { class: "config" } });
      expect(report.transcript.bytes).toBe(0);
      expect((await subject.transcript(report)).length).toBe(0);
    });

    test("an agent that hangs is ended when its time is over", async () => {
      const request = { ...subject.request({ does: "hangs" }), timeoutMs: 500 };
      const report = await subject.agents.run(request, never);
      expect(report).toMatchObject({
        ending: { is: "timed-out", afterMs: 500 },
        failure: { class: "agent" },
      });
      expect(subject.alive(request.marker)).toBe(0);
    });

    test("an agent that is told to stop is ended, and that is no failure", async () => {
      const request = subject.request({ does: "hangs" });
      const controller = new AbortController();
      const running = subject.agents.run(request, controller.signal);
      await sleep(200);
      controller.abort();
      expect(await running).toMatchObject({ ending: { is: "stopped" }, failure: null });
      expect(subject.alive(request.marker)).toBe(0);
    });

    test("a message reaches an agent that takes messages while it runs", async () => {
      const request = { ...subject.request({ does: "listens" }), mayGetMessages: true };
      const running = subject.agents.run(request, never);
      while (!(await subject.agents.send(request.iteration, "write a file\nnow"))) await sleep(20);
      const report = await running;
      expect(report.ending).toEqual({ is: "exited", code: 0 });
      expect(report.finalText).toContain("I was told: write a file\nnow");
      expect(await subject.agents.send(request.iteration, "too late")).toBe(false);
    });

    test("a message to nobody, or to an agent that takes none, is not sent", async () => {
      expect(await subject.agents.send(999, "anybody there?")).toBe(false);
      const request = subject.request({ does: "hangs" });
      const controller = new AbortController();
      const running = subject.agents.run(request, controller.signal);
      while (subject.alive(request.marker) === 0) await sleep(20);
      expect(await subject.agents.send(request.iteration, "hello?")).toBe(false);
      controller.abort();
      await running;
    });

    test("what an agent leaves behind is ended and counted", async () => {
      const request = subject.request({ does: "leaves" });
      const report = await subject.agents.run(request, never);
      expect(report).toMatchObject({ ending: { is: "exited", code: 0 }, sweptProcesses: 1 });
      expect(subject.alive(request.marker)).toBe(0);
    });

    test("it says once that an agent is gone that leaves nothing", async () => {
      const left: number[] = [];
      const completes = subject.request({ does: "completes" });
      const request = { ...completes, onGone: () => left.push(subject.alive(completes.marker)) };
      await subject.agents.run(request, never);
      expect(left).toEqual([0]);
    });

    test("it says that the agent is gone, at the latest when nothing of it is left", async () => {
      const left: number[] = [];
      const leaves = subject.request({ does: "leaves" });
      const request = { ...leaves, onGone: () => left.push(subject.alive(leaves.marker)) };
      await subject.agents.run(request, never);
      expect(left.at(-1)).toBe(0);
      expect(left.length).toBeLessThanOrEqual(2);
    });

    test("a sweep ends exactly the iteration it is for", async () => {
      const requests = [subject.request({ does: "hangs" }), subject.request({ does: "hangs" })] as const;
      const controller = new AbortController();
      const running = requests.map((request) => subject.agents.run(request, controller.signal));
      while (requests.some((request) => subject.alive(request.marker) === 0)) await sleep(20);
      expect(await subject.agents.sweep(requests[0].marker)).toBeGreaterThan(0);
      expect(requests.map((request) => subject.alive(request.marker) > 0)).toEqual([false, true]);
      expect(await subject.agents.sweep(requests[0].marker)).toBe(0);
      controller.abort();
      await Promise.all(running);
    });

    test("what is left of an iteration that nobody saw end can be told", async () => {
      const request = subject.request({ does: "completes" });
      const startedAt = subject.now();
      const seen = await subject.agents.run(request, never);
      const recovered = await subject.agents.recoverReport(request.iteration, startedAt);
      expect(recovered).toMatchObject({
        ending: { is: "interrupted" },
        claim: { is: "none" },
        failure: null,
        transcript: seen.transcript,
      });
      expect(recovered.durationMs).toBeGreaterThanOrEqual(0);
    });

    test("an iteration that left nothing is told too", async () => {
      const recovered = await subject.agents.recoverReport(999, subject.now());
      expect(recovered).toMatchObject({
        ending: { is: "interrupted" },
        claim: { is: "none" },
        durationMs: 0,
      });
      expect(recovered.transcript).toMatchObject({ bytes: 0, sha256: createHash("sha256").digest("hex") });
    });
  });
}
