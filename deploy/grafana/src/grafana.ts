/**
 * The part of Grafana's classic dashboard model that these dashboards use. Schema version 38 is that
 * of Grafana 10.0: newer ones bring it up to date when they load it.
 */
export interface Dashboard {
  readonly id: null;
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly timezone: 'browser';
  readonly editable: true;
  readonly graphTooltip: 1;
  readonly schemaVersion: 38;
  readonly version: 1;
  readonly refresh: string;
  readonly time: { readonly from: string; readonly to: string };
  readonly timepicker: Record<string, never>;
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly Annotation[] };
  readonly links: readonly DashboardLink[];
  readonly panels: readonly (Panel | RowPanel)[];
}

export interface DataSourceRef {
  readonly type: 'prometheus' | 'grafana';
  readonly uid: string;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly type: 'datasource' | 'query';
  readonly hide: 0;
  readonly skipUrlSync: false;
  readonly query: string | { readonly query: string; readonly refId: string };
  readonly current: Record<string, never>;
  readonly options: readonly never[];
  readonly regex: string;
  readonly refresh: 1 | 2;
  readonly multi: boolean;
  readonly includeAll: boolean;
  readonly allValue?: string;
  readonly datasource?: DataSourceRef;
  readonly definition?: string;
  readonly sort?: 1;
}

export interface Annotation {
  readonly name: string;
  readonly datasource: DataSourceRef;
  readonly enable: boolean;
  readonly hide?: boolean;
  readonly iconColor: string;
  readonly builtIn?: 1;
  readonly type?: 'dashboard';
  readonly expr?: string;
  readonly step?: string;
  readonly titleFormat?: string;
  readonly textFormat?: string;
}

export interface DashboardLink {
  readonly title: string;
  readonly type: 'dashboards';
  readonly icon: string;
  readonly tooltip: string;
  readonly url: string;
  readonly tags: readonly string[];
  readonly asDropdown: boolean;
  readonly targetBlank: boolean;
  readonly includeVars: boolean;
  readonly keepTime: boolean;
}

export interface GridPos {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

export interface RowPanel {
  readonly id: number;
  readonly type: 'row';
  readonly title: string;
  readonly collapsed: false;
  readonly gridPos: GridPos;
  readonly panels: readonly never[];
}

export interface Target {
  readonly refId: string;
  readonly datasource: DataSourceRef;
  readonly editorMode: 'code';
  readonly expr: string;
  readonly legendFormat: string;
  readonly range: boolean;
  readonly instant: boolean;
  readonly format: 'time_series' | 'table' | 'heatmap';
}

export type PanelType = 'timeseries' | 'stat' | 'table' | 'state-timeline' | 'heatmap';

export interface Override {
  readonly matcher: { readonly id: 'byName' | 'byRegexp'; readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}

export interface ThresholdStep {
  readonly color: string;
  readonly value: number | null;
}

export interface FieldDefaults {
  readonly unit: string;
  readonly color: { readonly mode: string; readonly fixedColor?: string };
  readonly thresholds: { readonly mode: 'absolute'; readonly steps: readonly ThresholdStep[] };
  readonly mappings: readonly object[];
  readonly custom: Readonly<Record<string, unknown>>;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly noValue?: string;
}

export interface Panel {
  readonly id: number;
  readonly type: PanelType;
  readonly title: string;
  readonly description: string;
  readonly datasource: DataSourceRef;
  readonly gridPos: GridPos;
  readonly targets: readonly Target[];
  readonly fieldConfig: {
    readonly defaults: FieldDefaults;
    readonly overrides: readonly Override[];
  };
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations: readonly { readonly id: string; readonly options: object }[];
}

/** Whichever Prometheus is chosen at the top of the dashboard. */
export const CHOSEN: DataSourceRef = { type: 'prometheus', uid: '$' + '{datasource}' };
