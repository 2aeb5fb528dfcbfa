/** Charts as SVG, written by hand: lines over time, and bars beside each other. No clock, no fonts to load. */
export interface Line {
  readonly name: string;
  readonly color: string;
  readonly values: readonly number[];
  /** Drawn as steps of a limit rather than as what was measured. */
  readonly isLimit?: boolean;
}
export interface LineChart {
  readonly title: string;
  readonly about: string;
  /** Of the first value, and what the values are counted in. */
  readonly from: number;
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Where something happened. */
  readonly marks: readonly { readonly at: number; readonly text: string }[];
}
export interface BarChart {
  readonly title: string;
  readonly about: string;
  readonly groups: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly names: readonly string[];
  readonly colors: readonly string[];
}

const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 56;
const RIGHT = 16;
const TOP = 62;
const BOTTOM = 54;
const INNER_WIDTH = WIDTH - LEFT - RIGHT;
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM;
const INK = '#30343f';
const FAINT = '#dfe2ea';
const TICKS = [0, 0.25, 0.5, 0.75, 1];

export function lineChart({ title, about, from, unit, lines, marks }: LineChart): string {
  const most = niceAbove(Math.max(1, ...lines.flatMap(({ values }) => values)));
  const count = Math.max(2, ...lines.map(({ values }) => values.length));
  const x = (index: number) => LEFT + (index / (count - 1)) * INNER_WIDTH;
  const y = (value: number) => TOP + INNER_HEIGHT * (1 - value / most);
  const rules = TICKS.map((share) => rule(y(share * most), shown(share * most)));
  const paths = lines.map(({ values, color, isLimit }) => {
    const points = values.map((value, index) => `${fixed(x(index))},${fixed(y(value))}`);
    const dash = isLimit ? ' stroke-dasharray="5 4"' : '';
    return `<polyline fill="none" stroke="${color}" stroke-width="1.8"${dash} points="${points.join(' ')}"/>`;
  });
  const events = marks.map(({ at, text }) => {
    const where = fixed(x(at - from));
    return (
      `<line x1="${where}" x2="${where}" y1="${TOP}" y2="${TOP + INNER_HEIGHT}" stroke="${INK}" stroke-dasharray="2 3"/>` +
      label(Number(where) + 4, TOP + 11, text, 'start', 11)
    );
  });
  const seconds = TICKS.map((share) =>
    label(x(share * (count - 1)), HEIGHT - BOTTOM + 18, `${Math.round(from + share * count)} s`),
  );
  const legend = legendOf(lines.map(({ name, color }) => [name, color]));
  return whole(title, `${about} (${unit})`, [...rules, ...paths, ...events, ...seconds, legend]);
}

/** Shares, 0 to 1. */
export function barChart({ title, about, groups, names, colors }: BarChart): string {
  const y = (share: number) => TOP + INNER_HEIGHT * (1 - Math.min(1, share));
  const rules = TICKS.map((share) => rule(y(share), `${Math.round(share * 100)} %`));
  const width = INNER_WIDTH / groups.length;
  const bar = (width * 0.8) / names.length;
  const bars = groups.flatMap(({ name, values }, group) => [
    ...values.map((value, index) => {
      const left = LEFT + group * width + width * 0.1 + index * bar;
      const top = y(value);
      const height = fixed(Math.max(1, TOP + INNER_HEIGHT - top));
      return (
        `<rect x="${fixed(left)}" y="${fixed(top)}" width="${fixed(bar - 2)}" height="${height}" ` +
        `fill="${colors[index]}"><title>${escaped(names[index]!)}, ${escaped(name)}: ${percent(value)}</title></rect>`
      );
    }),
    label(LEFT + (group + 0.5) * width, HEIGHT - BOTTOM + 18, name),
  ]);
  const legend = legendOf(names.map((name, index) => [name, colors[index]!]));
  return whole(title, about, [...rules, ...bars, legend]);
}

const PALETTE = ['#2f5fd0', '#e0913a', '#c65b2e', '#4a9a6a', '#8460b8', '#8a8f9c'];

export interface GroupedBars extends Pick<BarChart, 'title' | 'about' | 'groups' | 'names'> {
  /** Each group by its own scale, up to the largest of it. */
  readonly isShared?: boolean;
}

/** Values beside each other, with the figure over each bar. */
export function groupedBars({ title, about, groups, names, isShared }: GroupedBars): string {
  const most = niceAbove(Math.max(1, ...groups.flatMap(({ values }) => values)));
  const width = INNER_WIDTH / groups.length;
  const bar = (width * 0.86) / names.length;
  const base = TOP + INNER_HEIGHT;
  const bars = groups.flatMap(({ name, values }, group) => {
    const scale = isShared ? Math.max(1, ...values) * 1.1 : most;
    return [
      ...values.flatMap((value, index) => {
        const left = LEFT + group * width + width * 0.07 + index * bar;
        const height = Math.max(1, (value / scale) * INNER_HEIGHT);
        return [
          `<rect x="${fixed(left)}" y="${fixed(base - height)}" width="${fixed(bar - 4)}" height="${fixed(height)}" fill="${PALETTE[index]}"/>`,
          label(left + (bar - 4) / 2, base - height - 5, figure(value), 'middle', 11),
        ];
      }),
      label(LEFT + (group + 0.5) * width, HEIGHT - BOTTOM + 18, name),
    ];
  });
  const floor = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${base}" y2="${base}" stroke="${FAINT}"/>`;
  const legend = legendOf(names.map((name, index) => [name, PALETTE[index]!]));
  return whole(title, about, [floor, ...bars, legend]);
}

function figure(value: number): string {
  if (value >= 1_000)
    return `${Math.round(value)
      .toString()
      .replaceAll(/\B(?=(\d{3})+$)/g, ',')}`;
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1);
}

function whole(title: string, about: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}" font-family="system-ui, sans-serif">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    label(LEFT, 22, title, 'start', 15),
    label(LEFT, 40, about, 'start', 12),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function rule(y: number, text: string): string {
  return (
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${FAINT}"/>` +
    label(LEFT - 8, y + 4, text, 'end', 11)
  );
}

function legendOf(entries: readonly (readonly [name: string, color: string])[]): string {
  const step = INNER_WIDTH / Math.max(4, entries.length);
  return entries
    .map(([name, color], index) => {
      const x = LEFT + index * step;
      const swatch = `<rect x="${fixed(x)}" y="${HEIGHT - 20}" width="12" height="12" fill="${color}"/>`;
      return swatch + label(x + 17, HEIGHT - 10, name, 'start', 12);
    })
    .join('\n');
}

function label(x: number, y: number, text: string, anchor = 'middle', size = 12): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" fill="${INK}" font-size="${size}" text-anchor="${anchor}">${escaped(text)}</text>`;
}

function niceAbove(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 4, 6, 8, 10].map((step) => step * unit).find((top) => top >= value)!;
}

const fixed = (value: number): string => `${Math.round(value * 10) / 10}`;
const shown = (value: number): string => `${Math.round(value * 10) / 10}`;
const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
