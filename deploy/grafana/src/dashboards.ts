/** All dashboards, by the name of the file that each is written to. */
import { apis } from './apis.ts';
import type { Dashboard } from './grafana.ts';
import { machines } from './machines.ts';
import { overview } from './overview.ts';
import { pods } from './pods.ts';
import { recovery } from './recovery.ts';

export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  'overview.json': overview,
  'machines.json': machines,
  'pods.json': pods,
  'recovery.json': recovery,
  'apis.json': apis,
};

/** A dashboard as it lies in its file. */
export function textOf(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}
