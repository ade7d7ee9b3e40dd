import { expect, test } from "vitest";
import { mayHaveTelemetry, otlpSettings, pairs } from "./otlp-settings.ts";

const BASE = "http://127.0.0.1:4318";

test("one address for all is a base; one for a kind of data is taken as it is", () => {
  expect(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `${BASE}/` })).toMatchObject({
    traces: { url: `${BASE}/v1/traces` },
    metrics: { url: `${BASE}/v1/metrics` },
    serviceName: "ralph",
    intervalMs: 60_000,
  });
  expect(otlpSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${BASE}/t` })).toMatchObject({
    traces: { url: `${BASE}/t` },
    metrics: null,
  });
});

test("what is said for a kind of data is stronger than what is said for all", () => {
  const { traces, metrics } = otlpSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: BASE,
    OTEL_EXPORTER_OTLP_HEADERS: "a=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=2",
    OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "nonsense",
  });
  expect(traces).toMatchObject({ headers: { b: "2" }, timeoutMs: 500 });
  expect(metrics).toMatchObject({ headers: { a: "1" }, timeoutMs: 10_000 });
});

test("lists of pairs may be odd", () => {
  expect(pairs(" a = b%20c ,, =x, d, e=f=g,h=%zz")).toEqual({ a: "b c", e: "f=g", h: "%zz" });
});

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: BASE }, true],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: BASE }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: BASE, OTEL_SDK_DISABLED: "TRUE" }, false],
])("%j: telemetry %s", (env, isWanted) => {
  expect(mayHaveTelemetry(env)).toBe(isWanted);
});

test.each(["collector:4317", "file:///etc/passwd", "nonsense"])(
  "%s is refused, and not repeated",
  (address) => {
    const read = (): unknown => otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: address });
    expect(read).toThrow(/is no web address/);
    expect(read).not.toThrow(address);
  },
);
