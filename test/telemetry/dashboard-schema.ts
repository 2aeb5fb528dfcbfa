/**
 * What Grafana asks of a dashboard in its classic model: fields, types, bounds. Strict, so that a
 * field that there is not is an error here and not a panel that looks odd later.
 */
import * as z from 'zod';

const source = z.strictObject({ type: z.enum(['prometheus', 'grafana']), uid: z.string().min(1) });
const gridPos = z.strictObject({
  h: z.int().min(1),
  w: z.int().min(1).max(24),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
});
const step = z.strictObject({ color: z.string().min(1), value: z.number().nullable() });
const thresholds = z.strictObject({ mode: z.literal('absolute'), steps: z.array(step).min(1) });
const colour = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('thresholds') }),
  z.strictObject({ mode: z.enum(['fixed', 'shades']), fixedColor: z.string().min(1) }),
]);
const property = z.discriminatedUnion('id', [
  z.strictObject({ id: z.literal('color'), value: colour }),
  z.strictObject({ id: z.literal('unit'), value: z.string().min(1) }),
  z.strictObject({ id: z.literal('thresholds'), value: thresholds }),
  z.strictObject({
    id: z.literal('custom.cellOptions'),
    value: z.strictObject({ type: z.enum(['auto', 'color-text', 'color-background']) }),
  }),
]);
const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource: source,
  editorMode: z.literal('code'),
  expr: z.string().min(1),
  legendFormat: z.string().min(1),
  range: z.boolean(),
  instant: z.boolean(),
  format: z.enum(['time_series', 'table', 'heatmap']),
});
const panel = z.strictObject({
  id: z.int().min(1),
  type: z.enum(['timeseries', 'stat', 'table', 'state-timeline', 'heatmap']),
  title: z.string().min(3),
  description: z.string().min(20),
  datasource: source,
  gridPos,
  targets: z.array(target).min(1),
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit: z.string().regex(/^(none|short|s|bytes|percentunit|bool_yes_no|suffix:.+)$/),
      color: colour,
      thresholds,
      mappings: z.array(z.looseObject({ type: z.literal('value'), options: z.looseObject({}) })),
      custom: z.looseObject({}),
      decimals: z.int().min(0).optional(),
      min: z.number().optional(),
      max: z.number().optional(),
      noValue: z.string().optional(),
    }),
    overrides: z.array(
      z.strictObject({
        matcher: z.strictObject({ id: z.enum(['byName', 'byRegexp']), options: z.string().min(1) }),
        properties: z.array(property).min(1),
      }),
    ),
  }),
  options: z.looseObject({}),
  transformations: z.array(
    z.strictObject({
      id: z.enum(['merge', 'filterFieldsByName', 'organize']),
      options: z.looseObject({}),
    }),
  ),
});
const row = z.strictObject({
  id: z.int().min(1),
  type: z.literal('row'),
  title: z.string().min(3),
  collapsed: z.literal(false),
  gridPos,
  panels: z.array(z.never()),
});
const variable = z.strictObject({
  name: z.string().regex(/^\w+$/),
  label: z.string().min(1),
  description: z.string().min(1),
  type: z.enum(['datasource', 'query']),
  hide: z.literal(0),
  skipUrlSync: z.literal(false),
  query: z.union([z.string(), z.strictObject({ query: z.string(), refId: z.string() })]),
  current: z.strictObject({}),
  options: z.array(z.never()),
  regex: z.string(),
  refresh: z.union([z.literal(1), z.literal(2)]),
  multi: z.boolean(),
  includeAll: z.boolean(),
  allValue: z.string().optional(),
  datasource: source.optional(),
  definition: z.string().optional(),
  sort: z.literal(1).optional(),
});
const annotation = z.looseObject({
  name: z.string().min(1),
  datasource: source,
  enable: z.boolean(),
  iconColor: z.string().min(1),
});
const link = z.strictObject({
  title: z.string().min(1),
  type: z.literal('dashboards'),
  icon: z.string(),
  tooltip: z.string(),
  url: z.string(),
  tags: z.array(z.string()),
  asDropdown: z.boolean(),
  targetBlank: z.boolean(),
  includeVars: z.boolean(),
  keepTime: z.boolean(),
});

export const dashboardSchema = z.strictObject({
  id: z.null(),
  // Grafana takes 40 characters at most.
  uid: z.string().regex(/^[a-z-]{8,40}$/),
  title: z.string().min(3),
  description: z.string().min(20),
  tags: z.array(z.string()),
  timezone: z.literal('browser'),
  editable: z.literal(true),
  graphTooltip: z.literal(1),
  schemaVersion: z.literal(38),
  version: z.literal(1),
  refresh: z.string().regex(/^\d+[sm]$/),
  time: z.strictObject({ from: z.string(), to: z.literal('now') }),
  timepicker: z.strictObject({}),
  templating: z.strictObject({ list: z.array(variable).min(1) }),
  annotations: z.strictObject({ list: z.array(annotation) }),
  links: z.array(link),
  panels: z.array(z.union([row, panel])).min(1),
});
