/** Panels that most are: lines over time, and one figure. */
import { byMeaning, COLOUR, type Meaning } from './colours.ts';
import { CHOSEN, type Override, type Panel, type Target, type ThresholdStep } from './grafana.ts';

/** A panel that has no place yet. */
export type Placeless = Omit<Panel, 'id' | 'gridPos'> & {
  readonly wide: number;
  readonly high: number;
};

export interface Query {
  readonly expr: string;
  /** What a series is called; `{{label}}` stands for the label's value. */
  readonly as: string;
}

export interface Common {
  readonly title: string;
  /** What it shows, and what to do about it. */
  readonly about: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly wide?: number;
  readonly thresholds?: readonly ThresholdStep[];
  readonly overrides?: readonly Override[];
}

export interface Lines extends Common {
  readonly high?: number;
  readonly max?: number;
  readonly isStacked?: boolean;
  /** Of series that no word gives a colour. */
  readonly colour?: Meaning;
}

export const CALM: readonly ThresholdStep[] = [{ color: 'text', value: null }];

export function targets(
  queries: readonly Query[],
  format: Target['format'] = 'time_series',
): Target[] {
  const isTable = format === 'table';
  return queries.map(({ expr, as }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: CHOSEN,
    editorMode: 'code',
    expr,
    legendFormat: as,
    range: !isTable,
    instant: isTable,
    format,
  }));
}

/** Lines over time. With thresholds, a dashed line shows where an alert waits. */
export function lines(given: Lines): Placeless {
  const { title, about, unit, queries, thresholds, overrides = [], max } = given;
  const isStacked = given.isStacked ?? false;
  return {
    type: 'timeseries',
    title,
    description: about,
    datasource: CHOSEN,
    targets: targets(queries),
    wide: given.wide ?? 8,
    high: given.high ?? 8,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        ...(max === undefined ? {} : { max }),
        color: { mode: 'shades', fixedColor: COLOUR[given.colour ?? 'there'] },
        thresholds: { mode: 'absolute', steps: thresholds ?? CALM },
        mappings: [],
        custom: {
          drawStyle: 'line',
          lineInterpolation: 'linear',
          lineWidth: 1,
          fillOpacity: isStacked ? 40 : 8,
          showPoints: 'never',
          spanNulls: false,
          stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
          thresholdsStyle: { mode: thresholds === undefined ? 'off' : 'dashed' },
        },
      },
      overrides: [...byMeaning(), ...overrides],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    transformations: [],
  };
}

export interface Figure extends Common {
  readonly decimals?: number;
  /** The name of the series is shown, and not its value. */
  readonly isName?: boolean;
  /** What is shown where nobody says anything. */
  readonly none?: string;
}

/** One figure, now, with its course behind it. */
export function figure(given: Figure): Placeless {
  const { title, about, unit, queries, thresholds = CALM, overrides = [], none, decimals } = given;
  return {
    type: 'stat',
    title,
    description: about,
    datasource: CHOSEN,
    targets: targets(queries),
    wide: given.wide ?? 3,
    high: 4,
    fieldConfig: {
      defaults: {
        unit,
        ...(decimals === undefined ? {} : { decimals }),
        ...(none === undefined ? {} : { noValue: none }),
        color: { mode: 'thresholds' },
        thresholds: { mode: 'absolute', steps: thresholds },
        mappings: [],
        custom: {},
      },
      overrides,
    },
    options: {
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
      colorMode: 'value',
      graphMode: given.isName ? 'none' : 'area',
      justifyMode: 'auto',
      orientation: 'auto',
      textMode: given.isName ? 'name' : 'auto',
    },
    transformations: [],
  };
}
