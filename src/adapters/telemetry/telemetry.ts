import { RunTelemetry } from "./run-telemetry.ts";
import { gzipSync } from "node:zlib";
import type { Recorded } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import { type Attributes, keyValues, type ProviderOf, type Span, spanJson } from "./otlp.ts";
import type { Follower } from "../../engine/ports.ts";
import type { OtlpSettings, OtlpTarget } from "./otlp-settings.ts";

const SPANS_MAX = 2_048;
const BATCH_MAX = 512;
/** After a failure nobody is asked again before. */
const PAUSE_MS = 5_000;
/** What the end of a run waits for. */
const PATIENCE_MS = 3_000;

interface TelemetryOptions {
  readonly settings: OtlpSettings;
  readonly resource: Attributes;
  readonly version: string;
  readonly providerOf: ProviderOf;
  readonly worker?: string;
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

/** Tells an OpenTelemetry receiver of a run. It is in nobody's way: what cannot be sent is dropped in the end. */
export class Telemetry implements Follower {
  readonly #options: TelemetryOptions;
  readonly #startedAt = Date.now();
  readonly #run: RunTelemetry;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #waiting: Span[] = [];
  #dropped = 0;
  #notBefore = 0;
  #hasWarned = false;
  #sending: Promise<void> = Promise.resolve();
  #isSending = false;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#run = new RunTelemetry(options.providerOf, options.worker);
    this.#timer = setInterval(() => void this.#sendMetrics(), options.settings.intervalMs).unref();
  }

  follow(event: Recorded, state: State): Promise<void> {
    const spans = this.#run.see(event, state);
    if (this.#options.settings.traces !== null) this.#waiting.push(...spans);
    this.#dropped += Math.max(0, this.#waiting.length - SPANS_MAX);
    this.#waiting = this.#waiting.slice(-SPANS_MAX);
    return Promise.resolve();
  }

  settle(): Promise<void> {
    if (!this.#isSending && this.#waiting.length > 0 && Date.now() >= this.#notBefore)
      this.#sending = this.#sendSpans();
    return Promise.resolve();
  }

  /** At the end: one more try for all that is left, within a few seconds. */
  async finish(): Promise<void> {
    clearInterval(this.#timer);
    const timer = setTimeout(() => this.#over.abort(), PATIENCE_MS);
    await this.#sending;
    await Promise.all([this.#sendSpans(), this.#sendMetrics()]);
    clearTimeout(timer);
    const lost = this.#dropped + this.#waiting.length;
    if (lost > 0) this.#options.note(`${lost} spans could not be sent`);
  }

  async #sendSpans(): Promise<void> {
    const { traces } = this.#options.settings;
    if (traces === null) return;
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH_MAX);
      const scopeSpans = [{ scope: this.#scope, spans: batch.map(spanJson) }];
      const isSettled = await this.#send(traces, {
        resourceSpans: [{ resource: this.#resource, scopeSpans }],
      });
      if (!isSettled) break;
      // While it was under way some may have been dropped at this very end.
      this.#waiting = this.#waiting.filter((span) => !batch.includes(span));
    }
    this.#isSending = false;
  }

  async #sendMetrics(): Promise<void> {
    const { metrics } = this.#options.settings;
    const found = metrics === null ? [] : this.#run.collect(this.#startedAt, Date.now());
    if (metrics === null || found.length === 0) return;
    const scopeMetrics = [{ scope: this.#scope, metrics: found }];
    await this.#send(metrics, { resourceMetrics: [{ resource: this.#resource, scopeMetrics }] });
  }

  get #scope(): object {
    return { name: "ralph", version: this.#options.version };
  }

  get #resource(): object {
    const { settings, resource } = this.#options;
    const all = { ...resource, ...settings.resource, "service.name": settings.serviceName };
    return { attributes: keyValues(all) };
  }

  /** One request of the protocol, in JSON. False: the same may be taken later. */
  async #send(target: OtlpTarget, body: object): Promise<boolean> {
    const text = JSON.stringify(body);
    try {
      const answer = await fetch(target.url, {
        method: "POST",
        headers: {
          ...target.headers,
          "content-type": "application/json",
          ...(target.isCompressed && { "content-encoding": "gzip" }),
        },
        body: target.isCompressed ? new Uint8Array(gzipSync(text)) : text,
        redirect: "error",
        signal: AbortSignal.any([this.#over.signal, AbortSignal.timeout(target.timeoutMs)]),
      });
      await answer.body?.cancel();
      if (!answer.ok) this.#noteFailure(target, `it answers ${answer.status}`);
      return answer.ok || ![429, 502, 503, 504].includes(answer.status);
    } catch (error) {
      this.#noteFailure(target, whyOf(error));
      return false;
    }
  }

  #noteFailure(target: OtlpTarget, why: string): void {
    this.#notBefore = Date.now() + PAUSE_MS;
    const text = `telemetry cannot be sent to ${new URL(target.url).host}: ${why}`;
    if (this.#hasWarned) this.#options.note(text);
    else this.#options.warn(text);
    this.#hasWarned = true;
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string };
  return typeof code === "string" ? code : (message ?? error.message);
}
