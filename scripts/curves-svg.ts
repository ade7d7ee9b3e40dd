import { numberTicks, place } from "../src/core/report/svg.ts";

/** What was seen along the way: values of each name, beside the numbers in `at`. */
export interface Curves {
  readonly along: string;
  readonly at: readonly number[];
  readonly values: Readonly<Record<string, readonly number[]>>;
}

const PANEL = { width: 360, height: 170 };
const BOX = { left: 48, right: 14, top: 30, bottom: 26 };
const COLUMNS = 2;
const STYLE = `text{font:12px system-ui,sans-serif;fill:#57606a}.name{font-weight:600;fill:#24292f}
.grid{stroke:#d0d7de}.line{fill:none;stroke:#0969da;stroke-width:1.6}
@media(prefers-color-scheme:dark){text{fill:#9198a1}.name{fill:#e6edf3}.grid{stroke:#30363d}.line{stroke:#4493f8}}`;

/** One picture with a panel for each of the values; all begin at zero, so that a slope is a slope. */
export function curvesSvg({ along, at, values }: Curves): string {
  const panels = Object.entries(values);
  const width = PANEL.width * COLUMNS;
  const height = PANEL.height * Math.ceil(panels.length / COLUMNS);
  const content = panels.map(([name, of], index) => {
    const left = (index % COLUMNS) * PANEL.width;
    const top = Math.floor(index / COLUMNS) * PANEL.height;
    return `<g transform="translate(${left} ${top})">${panel(name, along, at, of)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>${STYLE}</style>
${content.join("\n")}
</svg>
`;
}

function panel(name: string, along: string, at: readonly number[], values: readonly number[]): string {
  const ticks = numberTicks(Math.max(...values), String);
  const top = ticks.at(-1)?.at ?? 1;
  const last = at.at(-1) ?? 1;
  const floor = PANEL.height - BOX.bottom;
  const right = (x: number): number => place(BOX.left + (x / last) * (PANEL.width - BOX.left - BOX.right));
  const up = (y: number): number => place(floor - (y / top) * (floor - BOX.top));
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${BOX.left}" x2="${PANEL.width - BOX.right}" y1="${up(tick.at)}" y2="${up(tick.at)}"/>` +
      `<text text-anchor="end" x="${BOX.left - 6}" y="${up(tick.at) + 4}">${tick.label}</text>`,
  );
  const points = values.map((value, index) => `${right(at[index] ?? 0)},${up(value)}`);
  return `<text class="name" x="${BOX.left}" y="16">${name}</text>${grid.join("")}
<text x="${BOX.left}" y="${floor + 18}">0</text><text text-anchor="end" x="${PANEL.width - BOX.right}" y="${floor + 18}">${last.toLocaleString("en")} ${along}</text>
<polyline class="line" points="${points.join(" ")}"/>`;
}
