import { RalphError } from "../../core/errors.ts";
import { decoded } from "../../core/redact.ts";

/** Where one kind of data goes; the usual variables of OpenTelemetry say it. */
export interface OtlpTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
}

export interface OtlpSettings {
  readonly traces: OtlpTarget | null;
  readonly metrics: OtlpTarget | null;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  /** How often metrics are sent. */
  readonly intervalMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;
type Signal = "TRACES" | "METRICS";

const TIMEOUT_MS = 10_000;
const INTERVAL_MS = 60_000;

/** Whether anything may be wanted: a look that costs nothing. */
export function mayHaveTelemetry(env: Env): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  return ["", "TRACES_", "METRICS_"].some(
    (signal) => (env[`OTEL_EXPORTER_OTLP_${signal}ENDPOINT`] ?? "") !== "",
  );
}

export function otlpSettings(env: Env): OtlpSettings {
  const resource = pairs(env["OTEL_RESOURCE_ATTRIBUTES"] ?? "");
  return {
    traces: targetOf("TRACES", env),
    metrics: targetOf("METRICS", env),
    serviceName: env["OTEL_SERVICE_NAME"] || resource["service.name"] || "ralph",
    resource,
    intervalMs: wholeNumber(env["OTEL_METRIC_EXPORT_INTERVAL"]) ?? INTERVAL_MS,
  };
}

function targetOf(signal: Signal, env: Env): OtlpTarget | null {
  const of = (name: string): string =>
    env[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || "";
  if (env[`OTEL_${signal}_EXPORTER`] === "none") return null;
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] ?? "";
  const common = env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "";
  if (own === "" && common === "") return null;
  // The one for all is a base, the one for a signal is taken as it is.
  const address = own === "" ? `${common.replace(/\/+$/, "")}/v1/${signal.toLowerCase()}` : own;
  refuseUnlessWeb(address);
  if (of("PROTOCOL") === "grpc")
    throw new RalphError("config", "OTEL_EXPORTER_OTLP_PROTOCOL is grpc; ralph speaks http/json", {
      hint: "name the HTTP port of the receiver (often 4318), and set OTEL_EXPORTER_OTLP_PROTOCOL=http/json",
    });
  return {
    url: address,
    headers: pairs(of("HEADERS")),
    timeoutMs: wholeNumber(of("TIMEOUT")) ?? TIMEOUT_MS,
    isCompressed: of("COMPRESSION") === "gzip",
  };
}

/** Not shown: it may hold a key. */
function refuseUnlessWeb(address: string): void {
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return;
  throw new RalphError("config", "the address in OTEL_EXPORTER_OTLP_ENDPOINT is no web address", {
    hint: "for example http://127.0.0.1:4318",
  });
}

/** `key=value,other=value`, each value as in an address. */
export function pairs(text: string): Readonly<Record<string, string>> {
  const found = text.split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    const key = pair.slice(0, at).trim();
    return at < 1 || key === "" ? [] : [[decoded(key), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(found);
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) && Number(text) > 0 ? Number(text) : null;
}
