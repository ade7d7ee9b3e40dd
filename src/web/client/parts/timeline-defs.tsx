/** The patterns by which spans are told apart where colours are not. */
export function TimelineDefs() {
  return (
    <defs>
      <pattern
        id="p-rejected"
        width="7"
        height="7"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect class="p-ground is-rejected" width="7" height="7" />
        <rect class="p-mark" width="2.5" height="7" />
      </pattern>
      <pattern
        id="p-failed"
        width="7"
        height="7"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(-45)"
      >
        <rect class="p-ground is-failed" width="7" height="7" />
        <rect class="p-mark" width="2.5" height="7" />
      </pattern>
      <pattern id="p-decide" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect class="p-ground is-decide" width="6" height="6" />
        <circle class="p-mark" cx="3" cy="3" r="1.2" />
      </pattern>
      <pattern id="p-blocked" width="8" height="8" patternUnits="userSpaceOnUse">
        <rect class="p-ground is-blocked" width="8" height="8" />
        <rect class="p-mark" width="4" height="4" />
        <rect class="p-mark" x="4" y="4" width="4" height="4" />
      </pattern>
      <pattern id="p-continue" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect class="p-ground is-continue" width="6" height="6" />
        <rect class="p-mark" y="4.5" width="6" height="1" />
      </pattern>
      <pattern id="p-gates" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect class="p-ground is-gates" width="5" height="5" />
        <rect class="p-mark" width="1" height="5" />
      </pattern>
      <pattern id="p-baseline" width="5" height="5" patternUnits="userSpaceOnUse">
        <rect class="p-ground is-baseline" width="5" height="5" />
        <rect class="p-mark" width="1" height="5" />
      </pattern>
      <pattern id="p-wait" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="p-ground is-wait" width="9" height="9" />
        <rect class="p-mark" width="1" height="9" />
      </pattern>
    </defs>
  );
}

/** What is drawn plain has its class only. */
export const PATTERNED: ReadonlySet<string> = new Set([
  "rejected",
  "failed",
  "decide",
  "blocked",
  "continue",
  "gates",
  "baseline",
  "wait",
]);
