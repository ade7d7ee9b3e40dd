import type { Overview } from "../../../core/views/overview.ts";
import type { BreakerStatus, RunStatus } from "../../../core/views/status.ts";
import type { Instant } from "../../../core/time.ts";
import { capital } from "../../../core/text.ts";
import { now } from "../overview-store.ts";
import { clockTime, dollars, elapsed, moment, sentence } from "../format.ts";
import { useAct } from "../use-resource.ts";
import { ActButton, ActOutcome } from "./act-button.tsx";
import { Bar } from "./notices.tsx";

/** How the run stands at a glance: state, how far, what it costs. */
export function RunHeader({ overview }: { readonly overview: Overview }) {
  const { status, timeLeftMs: left } = overview;
  const { run, cost, calls } = status;
  const { sign, tone, text } = runSentence(overview, now.value);
  const done = status.tasks.filter((task) => task.status === "done").length;
  return (
    <section class="run-header" aria-label="The run">
      <div class="run-state">
        <h1 class={`run-sentence is-${tone}`}>
          <span class="run-sign" aria-hidden="true">
            {sign}
          </span>{" "}
          {text}
        </h1>
        {overview.mayAct && run !== null && <RunActs overview={overview} />}
      </div>
      <dl class="facts">
        {run !== null && (
          <>
            <Fact name="Iteration" value={`${run.iterations}/${run.max_iterations}`} />
            {!run.interrupted && (
              <Fact
                name={run.ended_at === null ? "Elapsed" : "Took"}
                value={elapsed(elapsedOf(run, now.value))}
              />
            )}
          </>
        )}
        {status.tasks.length > 0 && <Fact name="Done" value={`${done}/${status.tasks.length}`} />}
        <Fact name="Cost" value={dollars(cost.usd)} />
        {cost.per_accepted_task_usd !== null && (
          <Fact name="Per task" value={dollars(cost.per_accepted_task_usd)} />
        )}
        <Breaker breaker={status.breaker} />
        {status.exit_signals !== undefined && <ExitSignals signals={status.exit_signals} />}
      </dl>
      <div class="bars">
        {run !== null && run.state !== "ended" && status.tasks.length > 0 && (
          <Bar label="Tasks" value={done} max={status.tasks.length}>
            {`${done} of ${status.tasks.length} done${left === null ? "" : `, about ${elapsed(left)} left`}`}
          </Bar>
        )}
        {calls.limit !== null && calls.used !== null && (
          <Bar label="Calls this hour" value={calls.used} max={calls.limit}>
            {`${calls.used} of ${calls.limit}${calls.resets_at === null ? "" : `, resets at ${clockTime(Date.parse(calls.resets_at))}`}`}
          </Bar>
        )}
        {cost.budget_usd !== null && (
          <Bar label="Budget" value={cost.usd ?? 0} max={cost.budget_usd} expected={cost.forecast_usd}>
            {`${dollars(cost.usd ?? 0)} of ${dollars(cost.budget_usd)}${cost.forecast_usd === null ? "" : `, ${dollars(cost.forecast_usd)} for the whole plan at this rate`}`}
          </Bar>
        )}
      </div>
    </section>
  );
}

function RunActs({ overview }: { readonly overview: Overview }) {
  const acting = useAct();
  const { run } = overview.status;
  const reason = overview.isDriven && run?.state !== "ended" ? null : "no run is under way";
  return (
    <div class="run-acts">
      <ActOutcome acting={acting} />
      {run?.state === "waiting" && run.waiting_until !== null && (
        <ActButton label="Try now" kind="primary" onAct={() => void acting.run({ do: "retry" })} />
      )}
      {reason === null && run !== null && (
        <ActButton
          label={run.paused ? "Resume" : "Pause"}
          about="the run"
          onAct={() => void acting.run({ do: run.paused ? "resume" : "pause" })}
        />
      )}
      <ActButton
        label="Stop"
        about="the run"
        kind="danger"
        reason={reason}
        confirm="Stop after the iterations under way?"
        onAct={() => void acting.run({ do: "stop" })}
      />
    </div>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const BREAKER_WORDS = { CLOSED: "✔ closed", HALF_OPEN: "· half open", OPEN: "■ open" } as const;

function Breaker({ breaker }: { readonly breaker: BreakerStatus }) {
  return (
    <div class={`fact breaker is-${breaker.state.toLowerCase()}`}>
      <dt>Breaker</dt>
      <dd>
        {BREAKER_WORDS[breaker.state]}
        {breaker.state !== "CLOSED" && breaker.reason !== null && (
          <span class="fact-why"> {sentence(breaker.reason)}</span>
        )}
      </dd>
    </div>
  );
}

function ExitSignals({ signals }: { readonly signals: NonNullable<Overview["status"]["exit_signals"]> }) {
  const { test_only_loops: tests, done_signals: done, completion_indicators: indicators } = signals;
  return (
    <div class="fact">
      <dt>Exit signs</dt>
      <dd title="Iterations that only tested, said that all is done, or showed completion">
        {tests.length} tests only · {done.length} done · {indicators.length} complete
      </dd>
    </div>
  );
}

interface RunSentence {
  readonly sign: string;
  readonly tone: "running" | "waiting" | "good" | "bad" | "still";
  readonly text: string;
}

function runSentence({ status, hint, workers }: Overview, now: Instant): RunSentence {
  const { run } = status;
  const next = hint === null ? "" : ` Next: ${hint}`;
  if (run === null) return { sign: "·", tone: "still", text: `No run yet.${next}` };
  if (run.interrupted && workers !== null) {
    return { sign: "!", tone: "bad", text: `It stands still: no worker is here.${next}` };
  }
  if (run.interrupted) {
    return { sign: "!", tone: "bad", text: `Interrupted: its process died.${next} goes on with it.` };
  }
  switch (run.state) {
    case "running":
      return { sign: "▸", tone: "running", text: "Running" };
    case "waiting":
      return { sign: "◔", tone: "waiting", text: run.paused ? "Paused" : waitingText(run, now) };
    case "ended": {
      const isGood = run.outcome === "completed";
      const outcome = capital(run.outcome ?? "ended");
      const why = run.reason === null || run.reason === "" ? "" : `: ${run.reason}`;
      const text = `${sentence(`${outcome}${why}`)}${next}`;
      return { sign: isGood ? "✔" : "✗", tone: isGood ? "good" : "bad", text };
    }
  }
}

function waitingText({ waiting_until: until }: RunStatus, now: Instant): string {
  if (until === null) return "Waiting for you";
  const at = Date.parse(until);
  const left = at > now ? ` (${elapsed(at - now)})` : "";
  return `Waiting until ${moment(at, now)}${left}`;
}

/** How long it has gone on, or went on. */
function elapsedOf({ started_at: from, ended_at: to }: RunStatus, now: Instant): number {
  return (to === null ? now : Date.parse(to)) - Date.parse(from);
}
