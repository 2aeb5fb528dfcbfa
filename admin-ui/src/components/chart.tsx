/**
 * Lines over time, drawn by uPlot, which is loaded when the first chart is. The same figures are a
 * table for whoever prefers one, or cannot see the drawing.
 */
import { useEffect, useMemo, useRef, useState } from 'react';
import type UPlot from 'uplot';
import { showInstant, type Times, wallTime } from '../format/time.ts';
import { now } from '../platform/clock.ts';
import { useSettings } from '../platform/settings.ts';
import { loadLater } from './later.ts';
import { useWidth } from './use-width.ts';
import 'uplot/dist/uPlot.min.css';

type Zone = Exclude<Times, 'relative'>;

export interface Series {
  readonly name: string;
  /** One of the colours of the style sheet: `ok-fill`. */
  readonly colour: string;
  readonly isFilled?: boolean;
  /** Of each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly show: (value: number) => string;
}

const HEIGHT = 150;
const SPARSE_MAX = 4;

export function Chart({ title, times, series, show }: ChartProps) {
  const [isTable, setTable] = useState(false);
  const [at, setAt] = useState<number>();
  const { times: how } = useSettings();
  const clock = (ms: number) => showInstant(ms, how === 'utc' ? 'utc' : 'local', now());
  return (
    <figure className="chart" aria-label={title}>
      <figcaption>
        <h2>{title}</h2>
        <span className="chart-said">
          {at !== undefined && times[at] !== undefined && (
            <span className="quiet">{clock(times[at])} </span>
          )}
          {series.map(({ name, colour, values }) => {
            const value = at === undefined ? undefined : values[at];
            return (
              <span key={name} className="chart-key">
                <i className={`key-${colour}`} aria-hidden="true" />
                {name}
                {value !== undefined && value !== null && <strong>{show(value)}</strong>}
              </span>
            );
          })}
        </span>
        <button
          type="button"
          className="ghost small chart-turn"
          aria-pressed={isTable}
          aria-label={`${title} as a table`}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? 'Chart' : 'Table'}
        </button>
      </figcaption>
      {isTable ? (
        <Figures {...{ title, times, series, show, clock }} />
      ) : (
        <Drawing
          {...{ times, series, show, onAt: setAt }}
          zone={how === 'relative' ? 'local' : how}
        />
      )}
    </figure>
  );
}

interface DrawingProps extends Omit<ChartProps, 'title'> {
  readonly zone: Zone;
  readonly onAt: (index: number | undefined) => void;
}

function Drawing({ times, series, show, zone, onAt }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box, 400);
  const { theme } = useSettings();
  const isDark = useIsDark();
  const plot = useRef<UPlot>(undefined);
  const [lost, setLost] = useState<Error>();
  const size = useRef(width);
  size.current = width;
  const telling = useRef({ show, onAt });
  telling.current = { show, onAt };
  const data = useMemo(
    () =>
      [times.map((ms) => ms / 1_000), ...series.map(({ values }) => values)] as UPlot.AlignedData,
    [times, series],
  );
  const latest = useRef(data);
  latest.current = data;
  const shape = series.map(({ name, colour, isFilled }) => `${name} ${colour} ${isFilled}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew where its form or its colours change
  useEffect(() => {
    let isGone = false;
    loadLater(() => import('uplot')).then(({ default: Plot }) => {
      if (isGone || !box.current) return;
      const options = optionsOf({ width, series, zone, telling: () => telling.current });
      plot.current = new Plot(options, latest.current, box.current);
      plot.current.setSize({ width: size.current, height: HEIGHT });
    }, setLost);
    return () => {
      isGone = true;
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, isDark, theme, zone]);
  useEffect(() => plot.current?.setData(data), [data]);
  useEffect(() => plot.current?.setSize({ width, height: HEIGHT }), [width]);
  // Told by the panel that it is in.
  if (lost) throw lost;
  return <div className="chart-box" ref={box} aria-hidden="true" />;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

function useIsDark(): boolean {
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const listen = () => setDark(dark.matches);
    dark.addEventListener('change', listen);
    return () => dark.removeEventListener('change', listen);
  }, []);
  return isDark;
}

interface Telling {
  readonly show: (value: number) => string;
  readonly onAt: (index: number | undefined) => void;
}

interface Wanted {
  readonly width: number;
  readonly series: readonly Series[];
  readonly zone: Zone;
  readonly telling: () => Telling;
}

function optionsOf({ width, series, zone, telling }: Wanted): UPlot.Options {
  const [quiet, line] = [colourOf('quiet'), colourOf('line')];
  const font = '11px system-ui, sans-serif';
  const grid = { stroke: line, width: 1 };
  const axis = { stroke: quiet, font, grid: { show: false }, ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 1) * 1.1)] } },
    axes: [
      { ...axis, size: 24, space: 70, values: (_plot, splits) => splits.map(clockOf(zone)) },
      {
        ...axis,
        grid,
        size: 64,
        space: 32,
        values: (_plot, splits) => splits.map((value) => telling().show(value)),
      },
    ],
    series: [
      {},
      ...series.map(({ name, colour, isFilled }) => ({
        label: name,
        stroke: colourOf(colour),
        width: 1.5,
        points: { show: (plot: UPlot, index: number) => isSparse(plot.data[index]), size: 5 },
        ...(isFilled ? { fill: `${colourOf(colour)}33` } : {}),
      })),
    ],
    hooks: { setCursor: [(plot) => telling().onAt(plot.cursor.idx ?? undefined)] },
  };
}

/** Hours and minutes; the day where one begins. */
function clockOf(zone: Zone): (seconds: number) => string {
  return (seconds) => {
    const [day = '', clock = ''] = wallTime(seconds * 1_000, zone).split('T');
    return clock.startsWith('00:00') ? day.slice(5) : clock.slice(0, 5);
  };
}

/** A line of few points would not be seen. */
function isSparse(values: UPlot.AlignedData[number] | undefined): boolean {
  return [...(values ?? [])].filter((value) => value !== null).length < SPARSE_MAX;
}

/** A canvas knows nothing of variables, nor of a colour that has two values. */
function colourOf(name: string): string {
  const probe = document.createElement('i');
  probe.className = `key-${name}`;
  document.body.append(probe);
  const [r = 0, g = 0, b = 0] = (
    getComputedStyle(probe).backgroundColor.match(/[\d.]+/g) ?? []
  ).map(Number);
  probe.remove();
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

type FiguresProps = ChartProps & { readonly clock: (ms: number) => string };

function Figures({ title, times, series, show, clock }: FiguresProps) {
  return (
    <section className="chart-table" tabIndex={0} aria-label={`${title}, as a table`}>
      <table className="data">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((ms, index) => (
            <tr key={ms}>
              <td>{clock(ms)}</td>
              {series.map(({ name, values }) => {
                const value = values[index];
                return (
                  <td key={name} className="right number">
                    {value === null || value === undefined ? '–' : show(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
