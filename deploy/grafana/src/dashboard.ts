/** Puts panels in their places, with what all dashboards share: choices at the top, links, marks. */
import { COLOUR } from './colours.ts';
import {
  type Annotation,
  CHOSEN,
  type Dashboard,
  type DashboardLink,
  type Panel,
  type RowPanel,
  type Variable,
} from './grafana.ts';
import type { Placeless } from './panels.ts';
import { increase, OF_FLEET } from './promql.ts';

/** A heading with panels below it, from the left to the right, then in the next line. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Placeless[];
}

export interface Plan {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly chooses: readonly ('machine' | 'pod' | 'api')[];
  readonly rows: readonly Row[];
}

const COLUMNS = 24;

export function dashboard({ name, title, about, chooses, rows }: Plan): Dashboard {
  return {
    id: null,
    uid: `fleetq-${name}`,
    title: `FleetQ: ${title}`,
    description: about,
    tags: ['fleetq'],
    timezone: 'browser',
    editable: true,
    graphTooltip: 1,
    schemaVersion: 38,
    version: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timepicker: {},
    templating: { list: [SOURCE, FLEET, ...chooses.map((choice) => CHOICES[choice])] },
    annotations: { list: marks() },
    links: [LINK],
    panels: placed(rows),
  };
}

function placed(rows: readonly Row[]): (Panel | RowPanel)[] {
  const all: (Panel | RowPanel)[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    const gridPos = { h: 1, w: COLUMNS, x: 0, y };
    all.push({ id: all.length + 1, type: 'row', title, collapsed: false, gridPos, panels: [] });
    y += 1;
    let [x, lineHigh] = [0, 0];
    for (const { wide, high, ...panel } of panels) {
      if (x + wide > COLUMNS) {
        y += lineHigh;
        [x, lineHigh] = [0, 0];
      }
      all.push({ id: all.length + 1, ...panel, gridPos: { h: high, w: wide, x, y } });
      x += wide;
      lineHigh = Math.max(lineHigh, high);
    }
    y += lineHigh;
  }
  return all;
}

const SOURCE: Variable = {
  name: 'datasource',
  label: 'Prometheus',
  description: 'The Prometheus that scrapes the pods.',
  type: 'datasource',
  hide: 0,
  skipUrlSync: false,
  query: 'prometheus',
  current: {},
  options: [],
  regex: '',
  refresh: 1,
  multi: false,
  includeAll: false,
};

function choice(name: string, label: string, query: string, description: string): Variable {
  return {
    name,
    label,
    description,
    type: 'query',
    hide: 0,
    skipUrlSync: false,
    datasource: CHOSEN,
    query: { query, refId: `choose-${name}` },
    definition: query,
    current: {},
    options: [],
    regex: '',
    // Whenever the time range changes: pods come and go.
    refresh: 2,
    multi: true,
    includeAll: true,
    // Not the list of all: that would grow long, and leave out what comes later.
    allValue: '.*',
    sort: 1,
  };
}

const FLEET = choice(
  'fleet',
  'Fleet',
  'label_values(fleetq_build_info, job)',
  'A fleet is a scrape job: pods that share a store.',
);
const CHOICES = {
  machine: choice(
    'machine',
    'Machine',
    `label_values(fleetq_phases_total{${OF_FLEET}}, machine)`,
    'Machines that have done something in this time.',
  ),
  pod: choice(
    'pod',
    'Pod',
    `label_values(fleetq_build_info{${OF_FLEET}}, instance)`,
    'Processes, by the address or name they are scraped under.',
  ),
  api: choice(
    'api',
    'API',
    `label_values(fleetq_throttle_limit{${OF_FLEET}}, api)`,
    'External APIs that pods call under a throttle.',
  ),
} as const;

const LINK: DashboardLink = {
  title: 'FleetQ',
  type: 'dashboards',
  icon: 'external link',
  tooltip: '',
  url: '',
  tags: ['fleetq'],
  asDropdown: false,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
};

/** What explains a bend in a line: pods that died, drains, another leader. */
function marks(): Annotation[] {
  const mark = (name: string, expr: string, iconColor: string): Annotation => ({
    name,
    datasource: CHOSEN,
    enable: true,
    iconColor,
    expr,
    step: '60s',
    titleFormat: name,
    textFormat: '{{instance}}',
  });
  return [
    {
      name: 'Annotations & Alerts',
      datasource: { type: 'grafana', uid: '-- Grafana --' },
      enable: true,
      hide: true,
      builtIn: 1,
      type: 'dashboard',
      iconColor: COLOUR.there,
    },
    mark('A pod drains', `max by (instance) (fleetq_draining{${OF_FLEET}}) > 0`, COLOUR.neither),
    mark(
      'Pods died',
      `${increase({ of: 'fleetq_death_detection_seconds_count', where: OF_FLEET, window: '1m' })} > 0`,
      COLOUR.badly,
    ),
  ];
}
