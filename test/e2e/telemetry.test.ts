import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { startReceiver, type Answer, type Receiver } from "../fixtures/receiver.ts";
import { createProject, startRalph, until, WORKS, type Finished, type Project } from "./project.ts";

let project: Project;
let receiver: Receiver;
afterEach(async () => {
  project.dispose();
  await receiver.close();
});

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code: number };
}

interface KeyValue {
  readonly key: string;
  readonly value: Record<string, string | number | boolean>;
}

interface Point {
  readonly attributes: readonly KeyValue[];
  readonly asInt?: string;
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
}

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly dataPoints: readonly Point[] };
}

const CONFIG =
  'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[[gates]]\nname = "tests"\ncommand = "test -e one.txt"\n';
const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_tokens: 1_000,
  cost_usd: 0.25,
  model: "m-1",
};

async function prepare(answer: Answer = (response) => response.writeHead(200).end("{}")): Promise<void> {
  receiver = await startReceiver(answer);
  project = createProject({ config: CONFIG });
  project.script({}, [[{ promise: "COMPLETE" }], [...WORKS, { usage: USAGE }]]);
  project.commit("gate");
}

function run(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Finished> {
  return startRalph(project.root, { ...project.env, ...env }, ["run", ...args]).finished;
}

function spans(): readonly OtlpSpan[] {
  return bodies("/v1/traces").flatMap((body) => {
    const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans));
  });
}

/** Those of the last request: each has everything so far. */
function metrics(): readonly Metric[] {
  const { resourceMetrics } = bodies("/v1/metrics").at(-1) as {
    resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[];
  };
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
}

function bodies(path: string): readonly unknown[] {
  return receiver.requests.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as unknown);
}

function valuesOf(attributes: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe("with OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  test("a run arrives as a tree of spans: run, task, iterations, agent, signals, evidence, gates, verdict", async () => {
    await prepare();
    expect(await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toMatchObject({ code: 0 });
    const all = spans();
    const nameOf = new Map(all.map(({ spanId, name }) => [spanId, name]));
    const tree = all.map(({ name, parentSpanId }) => `${nameOf.get(parentSpanId ?? "") ?? "-"} > ${name}`);
    expect(tree.toSorted()).toEqual(
      [
        "- > ralph run",
        "ralph run > task one",
        "task one > iteration 1",
        "iteration 1 > invoke_agent demo",
        "iteration 1 > signals",
        "iteration 1 > evidence",
        "iteration 1 > gate tests",
        "iteration 1 > verdict",
        "task one > iteration 2",
        "iteration 2 > invoke_agent demo",
        "iteration 2 > signals",
        "iteration 2 > evidence",
        "iteration 2 > gate tests",
        "iteration 2 > verdict",
      ].toSorted(),
    );
    expect(nameOf.size).toBe(all.length);
    const [started] = await project.events();
    expect(new Set(all.map(({ traceId }) => traceId))).toEqual(
      new Set([String(started?.["run"]).replaceAll("-", "")]),
    );
    for (const { spanId, startTimeUnixNano, endTimeUnixNano } of all) {
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    }
    const rejected = all.find(({ name }) => name === "iteration 1");
    expect(rejected?.status).toEqual({ code: 2 });
    expect(valuesOf(rejected?.attributes ?? [])).toMatchObject({
      "ralph.verdict": "rejected",
      "ralph.task.id": "one",
      "ralph.iteration": "1",
    });
  });

  test("what the agent used is told by the names of the conventions, and nothing that it said", async () => {
    await prepare();
    project.script({}, [[{ say: "a sentence of its own" }, ...WORKS, { usage: USAGE }]]);
    expect(await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toMatchObject({ code: 0 });
    const agent = spans().find(({ name }) => name === "invoke_agent demo");
    expect(agent?.kind).toBe(3);
    expect(valuesOf(agent?.attributes ?? [])).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "demo",
      "gen_ai.agent.name": "demo",
      "gen_ai.request.model": "m-1",
      "gen_ai.usage.input_tokens": "1100",
      "gen_ai.usage.cache_read.input_tokens": "1000",
      "gen_ai.usage.output_tokens": "20",
      "gen_ai.usage.cost.amount": 0.25,
      "gen_ai.usage.cost.currency": "USD",
    });
    const sent = receiver.requests.map(({ body }) => body).join("");
    expect(sent).not.toContain("a sentence of its own");
    expect(sent).not.toContain("make one");
  });

  test("metrics count iterations, verdicts, tokens, cost and durations", async () => {
    await prepare();
    expect(await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toMatchObject({ code: 0 });
    const points = (name: string): readonly (readonly [Readonly<Record<string, unknown>>, unknown])[] => {
      const metric = metrics().find((one) => one.name === name);
      const found = metric?.sum?.dataPoints ?? metric?.histogram?.dataPoints ?? [];
      return found.map((point) => [valuesOf(point.attributes), point.asInt ?? point.asDouble ?? point.sum]);
    };
    expect(points("ralph.iterations")).toEqual([
      [{ "ralph.verdict": "rejected", "gen_ai.agent.name": "demo" }, "1"],
      [{ "ralph.verdict": "accepted", "gen_ai.agent.name": "demo" }, "1"],
    ]);
    const about = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "demo",
      "gen_ai.request.model": "m-1",
    };
    expect(points("gen_ai.client.token.usage")).toEqual([
      [{ ...about, "gen_ai.token.type": "input" }, 1_100],
      [{ ...about, "gen_ai.token.type": "output" }, 20],
    ]);
    expect(points("ralph.cost").map(([, value]) => value)).toEqual([0.25]);
    expect(points("ralph.tasks.completed")).toEqual([[{}, "1"]]);
    expect(points("ralph.runs")).toEqual([[{ "ralph.outcome": "completed" }, "1"]]);
    for (const name of [
      "gen_ai.client.operation.duration",
      "ralph.iteration.duration",
      "ralph.gate.duration",
    ])
      expect(points(name).length).toBeGreaterThan(0);
  });

  test("names, headers, addresses and compression are taken from the usual variables", async () => {
    await prepare();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own/path`,
      OTEL_METRICS_EXPORTER: "none",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=Zq-planted-in-a-header,x-of=a%20b",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_SERVICE_NAME: "night-shift",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other",
    };
    const finished = await run(env);
    expect(finished).toMatchObject({ code: 0, stderr: expect.not.stringContaining("telemetry") });
    const [first] = receiver.requests;
    expect(first?.path).toBe("/own/path");
    expect(first?.headers).toMatchObject({
      "content-encoding": "gzip",
      "api-key": "Zq-planted-in-a-header",
      "x-of": "a b",
    });
    const body = JSON.parse(gunzipSync(first?.bytes ?? "").toString("utf8")) as {
      resourceSpans: { resource: { attributes: KeyValue[] } }[];
    };
    expect(valuesOf(body.resourceSpans[0]?.resource.attributes ?? [])).toMatchObject({
      "service.name": "night-shift",
      "deployment.environment.name": "test",
      "ralph.project": "repository",
    });
  });

  test("a run that was killed goes on in the same trace", async () => {
    await prepare();
    project.script({}, [[{ hang: true }]]);
    const env = { ...project.env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const running = startRalph(project.root, env, ["run"]);
    await until("the agent runs", async () =>
      (await project.events()).some(({ type }) => type === "iteration.started"),
    );
    running.child.kill("SIGKILL");
    await running.finished;
    project.script({}, [WORKS]);
    expect(await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toMatchObject({ code: 0 });
    expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans().map(({ name }) => name)).toContain("iteration 2");
  });

  test.each([
    [
      "is not there",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
      "telemetry cannot be sent to 127.0.0.1:9",
    ],
    ["is no address", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }, "no telemetry is sent"],
    [
      "speaks another language",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      "no telemetry is sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc",
    ],
  ])("a receiver that %s costs one warning", async (_what, env, warning) => {
    await prepare();
    const finished = await run(env);
    expect(finished.code).toBe(0);
    expect(finished.stderr).toContain(warning);
    expect(finished.stderr.match(/^ralph: .*telemetry/gm)).toHaveLength(1);
  });

  test("a receiver that refuses is asked for the rest, and costs one warning", async () => {
    await prepare((response) => response.writeHead(400).end());
    const finished = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    expect(finished.code).toBe(0);
    expect(finished.stderr.match(/it answers 400/g)).toHaveLength(1);
  });
});

test("without the variable, or when it is turned off, nothing is sent", async () => {
  await prepare();
  const off = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: "true" };
  expect(await run(off)).toMatchObject({ code: 0 });
  expect(receiver.requests).toEqual([]);
});
