import { afterEach, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../fixtures/receiver.ts";
import { until, type Running } from "./project.ts";
import { createTeam, type Team } from "./team.ts";

let team: Team;
let receiver: Receiver;
const started: Running[] = [];
afterEach(async () => {
  for (const { child } of started) child.kill("SIGKILL");
  await team.dispose();
  await receiver.close();
});

test(
  "of several workers the one that recorded a fact tells it: each notice and each span comes once",
  { timeout: 120_000 },
  async () => {
    receiver = await startReceiver();
    const script = { a: [[{ blocked: "no key" }]], b: [[{ decide: "this or that?" }]] };
    team = await createTeam({ tasks: ["a", "b", "c", "d"], script, lease: "10s" });
    const env = {
      RALPH_NOTIFY_WEBHOOK: `${receiver.url}/hook`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_METRICS_EXPORTER: "none",
    };
    const machines = ["left", "right"].map((name) => team.machine(name, { env }));
    expect(await machines[0]?.ralph("submit")).toMatchObject({ code: 0 });
    started.push(...machines.map((machine) => machine.start("worker")));
    const merged = async (): Promise<boolean> =>
      (await team.events()).filter(({ type }) => type === "task.merged").length === 2;
    await until("all is done that can be", async () => notices().length >= 2 && (await merged()));
    for (const { child } of started) child.kill("SIGINT");
    for (const { finished } of started) expect((await finished).code).toBe(130);
    expect(
      notices()
        .map(({ kind, task }) => `${String(kind)} ${String(task)}`)
        .toSorted(),
    ).toEqual(["blocked a", "decide b"]);
    const iterations = spanNames().filter((name) => name.startsWith("iteration "));
    expect(iterations.toSorted()).toEqual(["iteration 1", "iteration 2", "iteration 3", "iteration 4"]);
    const facts = (await team.events()).filter(({ type }) => type === "question.asked");
    expect(facts).toEqual([expect.objectContaining({ worker: expect.any(String) })]);
  },
);

function notices(): readonly Record<string, unknown>[] {
  return bodies("/hook");
}

function bodies(path: string): readonly Record<string, unknown>[] {
  return receiver.requests
    .filter((request) => request.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

interface Traces {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string }[] }[];
  }[];
}

function spanNames(): readonly string[] {
  const traces = bodies("/v1/traces") as unknown as readonly Traces[];
  return traces
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans.map(({ name }) => name));
}
