import { stripEscapes } from "../words/strip-escapes.ts";

/** Text of agents as a reader may see it: nothing that steers a terminal or turns the direction of writing. */
export function printable(text: string): string {
  return stripEscapes(text).replace(DIRECTIONS, "").toWellFormed();
}

const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that is markup already. Only `markup` makes it, so nothing else gets into a page without being escaped. */
export interface Markup {
  readonly markup: string;
}

type Part = string | number | Markup | readonly Markup[];

/** HTML or SVG; what is filled in is text, unless it is markup itself. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: fixed.map((text, index) => `${text}${filledIn(parts[index] ?? "")}`).join("") };
}

function filledIn(part: Part): string {
  if (typeof part === "string") return escaped(part);
  if (typeof part === "number") return String(part);
  return "markup" in part ? part.markup : part.map((one) => one.markup).join("");
}

export const NOTHING: Markup = markup``;

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** One page that needs nothing else: no script, no picture, no address is ever asked for. */
export function page(title: string, main: Markup, footer: Markup): string {
  const { markup: text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${STYLE}
</head>
<body>
<main>
${main}
</main>
<footer>${footer}</footer>
</body>
</html>
`;
  return text;
}

/** Light, dark and on paper. */
export const STYLE = markup`<style>
:root {
  --paper: #fff; --card: #f6f7f9; --ink: #1b1f24; --quiet: #59626d; --rule: #dde1e6; --grid: #e7eaee;
  --accepted: #1a7f45; --continue: #3566b0; --rejected: #c2410c; --blocked: #8b3fb0; --decide: #a16207;
  --failed: #9f1239; --open: #66707c; --bar: #4a78c2; --area: #4a78c21f; --gates: #59626d; --wait: #c3c9d1;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --card: #1d2126; --ink: #e6e9ed; --quiet: #9aa4b0; --rule: #31373f; --grid: #262b32;
    --accepted: #4cc27e; --continue: #7ba6ea; --rejected: #f4915c; --blocked: #cf8df0; --decide: #e3b341;
    --failed: #fb7185; --open: #8f99a5; --bar: #7ba6ea; --area: #7ba6ea26; --gates: #9aa4b0; --wait: #434b55;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main, footer { max-width: 1080px; margin: 0 auto; padding: 0 20px; }
footer { padding: 24px 20px 40px; color: var(--quiet); font-size: 13px; overflow-wrap: anywhere; }
header { padding: 40px 0 20px; }
.over { margin: 0; color: var(--quiet); font-weight: 600; overflow-wrap: anywhere; }
h1 { margin: 2px 0 8px; font-size: clamp(26px, 5vw, 38px); line-height: 1.15; letter-spacing: -0.015em; text-wrap: balance; }
h1::before { content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-right: 0.4em; border-radius: 50%; background: var(--open); }
.o-completed h1::before { background: var(--accepted); }
.o-blocked h1::before { background: var(--blocked); }
.o-undecided h1::before { background: var(--decide); }
.o-stuck h1::before, .o-misconfigured h1::before { background: var(--failed); }
.o-exhausted h1::before, .o-limited h1::before, .o-stopped h1::before { background: var(--rejected); }
.why { margin: 0 0 4px; font-size: 18px; max-width: 46em; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: 14px; margin: 4px 0; overflow-wrap: anywhere; }
h2 { margin: 44px 0 12px; font-size: 21px; letter-spacing: -0.01em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 12px 0; }
.figures div { background: var(--card); border-radius: 10px; padding: 12px 16px; }
.figures dt { color: var(--quiet); font-size: 13px; }
.figures dd { margin: 0; font-size: 22px; font-weight: 650; line-height: 1.3; font-variant-numeric: tabular-nums; }
.waiting { list-style: none; margin: 0; padding: 0; display: grid; gap: 12px; }
.waiting li { border: 1px solid var(--rule); border-left: 4px solid var(--decide); border-radius: 8px; padding: 12px 16px; }
.waiting li p { margin: 0 0 6px; }
.next { font-weight: 600; }
pre, code { font: 14px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 6px 0 0; padding: 8px 12px; background: var(--card); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
.said { white-space: pre-line; overflow-wrap: anywhere; }
.scrolls { overflow-x: auto; }
.scrolls:focus-visible, summary:focus-visible { outline: 2px solid var(--continue); outline-offset: 2px; }
svg { display: block; }
.timeline { width: 100%; min-width: 680px; height: auto; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--quiet); font-variant-numeric: tabular-nums; }
svg .lane-name { font-weight: 600; }
svg .mark { font-size: 13px; font-weight: 700; }
.grid-line, .grid { stroke: var(--grid); } .rule { stroke: var(--rule); }
.span { stroke: var(--paper); stroke-width: 0.6; } .span.thin { stroke: none; }
.is-accepted { fill: var(--accepted); } .is-continue { fill: var(--continue); } .is-rejected { fill: var(--rejected); }
.is-blocked { fill: var(--blocked); } .is-decide, .is-challenged { fill: var(--decide); } .is-failed { fill: var(--failed); } .is-running { fill: var(--open); }
.t-accepted { color: var(--accepted); } .t-continue { color: var(--continue); } .t-rejected { color: var(--rejected); }
.t-blocked { color: var(--blocked); } .t-decide, .t-challenged { color: var(--decide); } .t-failed { color: var(--failed); } .t-running { color: var(--open); }
svg text.mark { fill: currentColor; }
.is-gates, .is-old-checks { fill: url(#p-gates); } .is-baseline { fill: url(#p-baseline); } .is-reader { fill: var(--card); }
.is-gates, .is-old-checks, .is-baseline, .is-reader { stroke: var(--gates); stroke-width: 0.7; }
.is-merge { fill: var(--ink); } .is-wait { fill: url(#p-wait); }
.p-back { fill: var(--paper); } .p-gates { fill: var(--gates); } .p-wait { fill: var(--wait); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; font-size: 14px; color: var(--quiet); }
.legend li { display: flex; align-items: center; gap: 6px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 16px; }
figure { margin: 0; border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 8px; }
.chart { width: 100%; height: auto; }
.chart-area { fill: var(--area); } .chart-line { fill: none; stroke: var(--bar); stroke-width: 2; } .chart-dot, .chart-bar, .bar { fill: var(--bar); }
.chart-limit, .limit { stroke: var(--failed); stroke-width: 1.5; stroke-dasharray: 5 4; }
.whisker { stroke: var(--ink); stroke-width: 1.2; }
.empty { color: var(--quiet); margin: 24px 0; }
.task { border-top: 1px solid var(--rule); padding: 18px 0 8px; }
.many .task { content-visibility: auto; contain-intrinsic-size: auto 320px; }
h3 { margin: 0 0 6px; font-size: 17px; overflow-wrap: anywhere; }
.id { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 15px; margin-right: 6px; }
.status { font-size: 12px; font-weight: 600; color: var(--quiet); border: 1px solid var(--rule); border-radius: 99px; padding: 1px 9px; margin-left: 4px; white-space: nowrap; }
.s-done .status { color: var(--accepted); border-color: currentColor; }
.s-blocked .status { color: var(--blocked); border-color: currentColor; }
.s-undecided .status { color: var(--decide); border-color: currentColor; }
.s-failed .status { color: var(--failed); border-color: currentColor; }
.task ol { list-style: none; margin: 8px 0; padding: 0; display: grid; gap: 8px; }
.task li { display: grid; grid-template-columns: 132px 1fr; gap: 4px 12px; }
.task li p { margin: 0; max-width: 52em; min-width: 0; }
.between p { grid-column: 2; color: var(--quiet); }
.verdict { font-weight: 600; font-size: 14px; line-height: 1.7; white-space: nowrap; }
.certificate { background: var(--card); border-radius: 10px; padding: 12px 16px; margin: 12px 0 10px; }
h4 { margin: 0 0 6px; font-size: 14px; color: var(--accepted); }
.certificate dl { margin: 0; display: grid; gap: 3px; font-size: 14px; }
.certificate dl div { display: grid; grid-template-columns: 92px 1fr; gap: 10px; }
.certificate dt { color: var(--quiet); } .certificate dd { margin: 0; min-width: 0; grid-column: 2; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 7px 12px 7px 0; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: break-word; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tfoot td { font-weight: 650; border-bottom: 0; }
summary { cursor: pointer; margin-top: 36px; } summary h2 { display: inline; }
details .scrolls { margin-top: 12px; } details td { white-space: nowrap; }
details td:last-child { min-width: 220px; white-space: normal; }
@media (max-width: 620px) {
  main { padding: 0 16px; } header { padding-top: 24px; }
  .figures { grid-template-columns: 1fr 1fr; } .figures dd { font-size: 19px; }
  .task li, .certificate dl div { grid-template-columns: 1fr; gap: 0; } .between p, .certificate dd { grid-column: 1; }
  .figures div:last-child:nth-child(odd) { grid-column: span 2; }
  .certificate dl { gap: 8px; }
  svg text, svg .mark { font-size: 16px; }
}
@media print {
  @page { margin: 14mm; }
  body { font-size: 10.5pt; } main, footer { max-width: none; padding: 0; }
  header { padding-top: 0; } h2 { margin-top: 22pt; } h2, h3, h4 { break-after: avoid; }
  figure, .waiting li, .certificate, tr, .legend, .figures { break-inside: avoid; }
  .charts { grid-template-columns: 1fr 1fr; } .figures { grid-template-columns: repeat(5, 1fr); } .figures dd { font-size: 15pt; }
  .many .task { content-visibility: visible; } .timeline { min-width: 0; } .scrolls { overflow: visible; }
  svg text, svg .mark { font-size: 15px; }
  details:not([open]) { display: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
</style>`;
