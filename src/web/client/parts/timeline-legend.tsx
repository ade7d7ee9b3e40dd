import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { VERDICTS } from "../verdict-look.ts";
import { lookOfSpan, type SpanLook } from "./span-look.ts";
import { PATTERNED } from "./timeline-defs.tsx";

const ORDER: readonly SpanLook[] = [
  ...[...VERDICTS, null].map((verdict) => lookOfSpan({ is: "agent", verdict })),
  ...(["gates", "baseline", "merge", "wait"] as const).map((is) => lookOfSpan({ is, verdict: null })),
];

/** Only what can be seen is explained. */
export function TimelineLegend({ spans }: { readonly spans: readonly TimeSpan[] }) {
  const keys = new Set(spans.map((span) => lookOfSpan(span).key));
  return (
    <ul class="legend" aria-label="Legend">
      {ORDER.filter(({ key }) => keys.has(key)).map(({ key, symbol, name }) => (
        <li key={key}>
          <svg width="20" height="12" aria-hidden="true" class={`span is-${key}`}>
            <rect
              class="span-shape"
              width="20"
              height="12"
              rx="3"
              {...(PATTERNED.has(key) && { fill: `url(#p-${key})` })}
            />
          </svg>
          <span aria-hidden="true">{symbol}</span> {name}
        </li>
      ))}
    </ul>
  );
}
