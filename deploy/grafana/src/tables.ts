/** The other kinds of panels: a table, states over time, a heatmap. */
import { COLOUR } from './colours.ts';
import { CHOSEN, type ThresholdStep } from './grafana.ts';
import { CALM, type Common, type Placeless, type Query, targets } from './panels.ts';

export interface Column extends Query {
  readonly unit: string;
  readonly thresholds?: readonly ThresholdStep[];
}
export interface Grid {
  readonly title: string;
  readonly about: string;
  /** Labels that are columns too, in this order. */
  readonly labels: readonly string[];
  readonly columns: readonly Column[];
  readonly wide?: number;
  readonly high?: number;
}

/** A row for each set of labels, as it is now, a column for each query. */
export function table({ title, about, labels, columns, wide = 24, high = 8 }: Grid): Placeless {
  const one = columns.length === 1;
  const fieldOf = (index: number) => (one ? 'Value' : `Value #${String.fromCharCode(65 + index)}`);
  return {
    type: 'table',
    title,
    description: about,
    datasource: CHOSEN,
    targets: targets(columns, 'table'),
    wide,
    high,
    fieldConfig: {
      defaults: {
        unit: 'short',
        color: { mode: 'thresholds' },
        thresholds: { mode: 'absolute', steps: CALM },
        mappings: [],
        custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: false },
      },
      overrides: columns.map(({ as, unit, thresholds }) => ({
        matcher: { id: 'byName', options: as },
        properties: [
          { id: 'unit', value: unit },
          ...(thresholds === undefined
            ? []
            : [
                { id: 'thresholds', value: { mode: 'absolute', steps: thresholds } },
                { id: 'custom.cellOptions', value: { type: 'color-text' } },
              ]),
        ],
      })),
    },
    options: { showHeader: true, cellHeight: 'sm', footer: { show: false, reducer: ['sum'] } },
    transformations: [
      { id: 'merge', options: {} },
      {
        id: 'filterFieldsByName',
        options: { include: { names: [...labels, ...columns.map((_, at) => fieldOf(at))] } },
      },
      {
        id: 'organize',
        options: {
          excludeByName: {},
          indexByName: Object.fromEntries(
            [...labels, ...columns.map((_, at) => fieldOf(at))].map((name, at) => [name, at]),
          ),
          renameByName: Object.fromEntries(columns.map(({ as }, at) => [fieldOf(at), as])),
        },
      },
    ],
  };
}

export interface States extends Omit<Common, 'unit'> {
  readonly yes: string;
  readonly no: string;
}

/** A bar for each series: when it was 1, and when 0. */
export function states({ title, about, queries, yes, no, wide = 24 }: States): Placeless {
  const options = {
    '0': { text: no, color: 'transparent', index: 0 },
    '1': { text: yes, color: COLOUR.there, index: 1 },
  };
  return {
    type: 'state-timeline',
    title,
    description: about,
    datasource: CHOSEN,
    targets: targets(queries),
    wide,
    high: 7,
    fieldConfig: {
      defaults: {
        unit: 'none',
        color: { mode: 'thresholds' },
        thresholds: { mode: 'absolute', steps: CALM },
        mappings: [{ type: 'value', options }],
        custom: { fillOpacity: 70, lineWidth: 0, spanNulls: false },
      },
      overrides: [],
    },
    options: {
      mergeValues: true,
      showValue: 'never',
      alignValue: 'left',
      rowHeight: 0.8,
      legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
      tooltip: { mode: 'single', sort: 'none' },
    },
    transformations: [],
  };
}

export interface Heat {
  readonly title: string;
  readonly about: string;
  /** Summed by `le`: how often a second each bucket was hit. */
  readonly expr: string;
  readonly wide?: number;
}

/** How long things took, all of them: two humps are two kinds of work. Durations in seconds. */
export function heat({ title, about, expr, wide = 12 }: Heat): Placeless {
  return {
    type: 'heatmap',
    title,
    description: about,
    datasource: CHOSEN,
    targets: targets([{ expr, as: '{{le}}' }], 'heatmap'),
    wide,
    high: 8,
    fieldConfig: {
      defaults: {
        unit: 's',
        color: { mode: 'fixed', fixedColor: COLOUR.there },
        thresholds: { mode: 'absolute', steps: CALM },
        mappings: [],
        custom: { hideFrom: { legend: false, tooltip: false, viz: false } },
      },
      overrides: [],
    },
    options: {
      calculate: false,
      cellGap: 1,
      color: { mode: 'scheme', scheme: 'Blues', steps: 32, reverse: false, exponent: 0.5 },
      filterValues: { le: 1e-9 },
      rowsFrame: { layout: 'auto' },
      showValue: 'never',
      tooltip: { show: true, yHistogram: false },
      yAxis: { axisPlacement: 'left', unit: 's', reverse: false },
      legend: { show: false },
    },
    transformations: [],
  };
}
