import type { EventOf, Recorded } from "../events.ts";
import { isFailing } from "../report/checked-gate.ts";
import type { Instant } from "../time.ts";
import { genAiAttributes, type ProviderOf } from "./gen-ai.ts";
import type { Attributes, Span } from "./otlp.ts";
import { spanIdOf, traceIdOf } from "./span-ids.ts";

/** The facts of one iteration as far as they have come. */
export interface IterationFacts {
  readonly started: Recorded<EventOf<"iteration.started">>;
  readonly ended?: Recorded<EventOf<"iteration.ended">>;
  readonly evidence?: Recorded<EventOf<"evidence.collected">>;
  readonly gates?: Recorded<EventOf<"gates.checked">>;
}

/** An iteration that is judged: itself, its agent, what was read, seen and checked, and the verdict. */
export function iterationSpans(
  facts: IterationFacts,
  verdict: Recorded<EventOf<"verdict.reached">>,
  providerOf: ProviderOf,
): readonly Span[] {
  const { started } = facts;
  const { run, task, iteration } = started;
  const traceId = traceIdOf(run);
  const spanId = spanIdOf(run, "iteration", iteration);
  const span = (name: string, of: Omit<Span, "traceId" | "parentId" | "name" | "kind" | "spanId">): Span => ({
    traceId,
    parentId: spanId,
    spanId: spanIdOf(run, "iteration", iteration, name),
    name,
    kind: "internal",
    ...of,
  });
  const isRefused = verdict.verdict === "rejected" || verdict.verdict === "failed";
  const whole: Span = {
    traceId,
    spanId,
    parentId: spanIdOf(run, "task", task),
    name: `iteration ${iteration}`,
    kind: "internal",
    from: started.at,
    to: verdict.at,
    attributes: { ...aboutIteration(started), "ralph.verdict": verdict.verdict },
    isError: isRefused,
  };
  const judged = facts.gates ?? facts.evidence ?? facts.ended ?? started;
  return [
    whole,
    ...agentSpans(facts, providerOf, span),
    ...gateSpans(facts, span),
    span("verdict", {
      from: judged.at,
      to: verdict.at,
      attributes: {
        "ralph.verdict": verdict.verdict,
        "ralph.rules": verdict.reasons.map(({ rule }) => rule).join(","),
        "ralph.made_progress": verdict.madeProgress,
      },
      isError: isRefused,
    }),
  ];
}

type MakeSpan = (
  name: string,
  of: Pick<Span, "from" | "to" | "attributes" | "isError"> & Partial<Pick<Span, "kind">>,
) => Span;

function agentSpans(
  { started, ended, evidence }: IterationFacts,
  providerOf: ProviderOf,
  span: MakeSpan,
): readonly Span[] {
  if (ended === undefined) return [];
  const { report } = ended;
  const agent = span(`invoke_agent ${started.agent}`, {
    kind: "client",
    from: Math.max(started.at, ended.at - report.durationMs),
    to: ended.at,
    attributes: genAiAttributes(started.agent, report, providerOf),
    isError: report.failure !== null,
  });
  const signals = span("signals", {
    from: ended.at,
    to: ended.at,
    attributes: {
      "ralph.claim": report.claim.is,
      "ralph.confidence": report.signals?.confidence,
      "ralph.contradictions": report.signals?.contradictions.length,
    },
    isError: false,
  });
  if (evidence === undefined) return [agent, signals];
  const { changed, headAfter } = evidence.evidence;
  const seen = span("evidence", {
    from: ended.at,
    to: evidence.at,
    attributes: { "ralph.files_changed": changed.files, "ralph.commit": headAfter },
    isError: false,
  });
  return [agent, signals, seen];
}

/** They run one after another, so the end of all tells when each began. */
function gateSpans({ gates: checked }: IterationFacts, span: MakeSpan): readonly Span[] {
  if (checked === undefined) return [];
  let from: Instant = checked.at - checked.gates.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return checked.gates.map(({ name, status, exitCode, durationMs, required }) => {
    const begun = from;
    from += durationMs;
    return span(`gate ${name}`, {
      from: begun,
      to: from,
      attributes: {
        "ralph.gate.name": name,
        "ralph.gate.status": status,
        "ralph.gate.exit_code": exitCode,
        "ralph.gate.required": required,
      },
      isError: isFailing(status),
    });
  });
}

function aboutIteration(started: EventOf<"iteration.started">): Attributes {
  return {
    "ralph.run.id": started.run,
    "ralph.task.id": started.task,
    "ralph.iteration": started.iteration,
    "ralph.ordinal": started.ordinal,
    "ralph.stage": started.stage,
    "ralph.lane": started.lane,
    "ralph.complexity": started.complexity,
    "ralph.worker": started.worker,
    "gen_ai.agent.name": started.agent,
  };
}
