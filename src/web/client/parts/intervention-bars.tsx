import type { Charts } from "../../../core/projections/charts.ts";
import { Bar } from "./bar.tsx";

export function InterventionBars({ interventions }: Pick<Charts, "interventions">) {
  const most = Math.max(0, ...interventions.map(({ count }) => count));
  return (
    <section class="panel interventions" aria-labelledby="interventions-title">
      <h2 id="interventions-title">Interventions</h2>
      {interventions.length === 0 ? (
        <p class="muted">No agent had to be corrected.</p>
      ) : (
        interventions.map(({ type, count }) => (
          <Bar key={type} label={type.replaceAll("_", " ")} value={count} max={most}>
            {String(count)}
          </Bar>
        ))
      )}
    </section>
  );
}
