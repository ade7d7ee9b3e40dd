import type { IterationDetail } from "../../api.ts";
import { duration } from "../format.ts";

type Gate = IterationDetail["gates"][number];

export function GateList({ gates }: { readonly gates: readonly Gate[] }) {
  return (
    <section class="panel gates" aria-labelledby="gates-title">
      <h2 id="gates-title">Gates</h2>
      {gates.map((gate) => (
        <GateEntry key={gate.name} gate={gate} />
      ))}
    </section>
  );
}

function GateEntry({ gate }: { readonly gate: Gate }) {
  const isGood = gate.status === "passed";
  const title = (
    <>
      <span class={`verdict is-${isGood ? "accepted" : "rejected"}`}>
        <span class="verdict-symbol" aria-hidden="true">
          {isGood ? "✔" : "✗"}
        </span>
        {gate.name}
      </span>{" "}
      <span class="muted">
        {gate.status}
        {gate.exitCode !== null && gate.exitCode !== 0 && `, exit code ${gate.exitCode}`},{" "}
        {duration(gate.durationMs)}
      </span>
    </>
  );
  if (gate.output === "") return <p class="gate">{title}</p>;
  return (
    <details class="gate" open={!isGood}>
      <summary>{title}</summary>
      <pre tabIndex={0} aria-label={`Output of ${gate.name}`}>
        {gate.output}
      </pre>
    </details>
  );
}
