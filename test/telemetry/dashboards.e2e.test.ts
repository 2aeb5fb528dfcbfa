/** The dashboards: what is in the files is what their source says, and what Grafana and Prometheus take. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { DASHBOARDS, textOf } from '../../deploy/grafana/src/dashboards.ts';
import type { Panel } from '../../deploy/grafana/src/grafana.ts';
import { ROOT } from '../docs/markdown.ts';
import { findPrometheus, runPromtool } from '../support/prometheus.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { dashboardSchema } from './dashboard-schema.ts';
import { dashboardExpressions, pageExpressions } from './expressions.ts';

const newDir = useTempDirs();
const found = findPrometheus();
const GRAFANA = join(ROOT, 'deploy/grafana');
const files = Object.entries(DASHBOARDS);
const all = files.map(([file, dashboard]) => ({ file, dashboard }));

test('the files are what npm run dashboards writes, and there are no others', () => {
  for (const [file, dashboard] of files) {
    expect(readFileSync(join(GRAFANA, file), 'utf8'), `npm run dashboards: ${file}`).toBe(
      textOf(dashboard),
    );
  }
  const there = readdirSync(GRAFANA).filter((file) => file.endsWith('.json'));
  expect(there.sort()).toEqual(Object.keys(DASHBOARDS).sort());
  expect(new Set(all.map(({ dashboard }) => dashboard.uid)).size).toBe(all.length);
});

test.each(all)('$file is what Grafana takes', ({ file }) => {
  const read = JSON.parse(readFileSync(join(GRAFANA, file), 'utf8'));
  const { error } = dashboardSchema.safeParse(read);
  expect(error?.issues ?? []).toEqual([]);
  // The schema can refuse: a field that there is not, and a panel that is wider than the grid.
  expect(dashboardSchema.safeParse({ ...read, panelz: [] }).success).toBe(false);
  const [first, ...others] = read.panels;
  const wide = { ...first, gridPos: { ...first.gridPos, w: 25 } };
  expect(dashboardSchema.safeParse({ ...read, panels: [wide, ...others] }).success).toBe(false);
});

test.each(all)('no two panels of $file lie on each other, or have one id', ({ dashboard }) => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { gridPos, title } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`), title).toBe(false);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test.each(all)('$file uses every choice at its top, and no other', ({ dashboard }) => {
  const text = JSON.stringify([dashboard.panels, dashboard.annotations, dashboard.templating]);
  const used = [...text.matchAll(/\$\{?([a-z]\w*)/g)].map((match) => match[1]!);
  const offered = dashboard.templating.list.map(({ name }) => name);
  expect([...new Set(used)].sort()).toEqual([...offered].sort());
});

test.each(all)(
  'thresholds of $file rise, and labels in legends are kept by the query',
  ({ dashboard }) => {
    const panels = dashboard.panels.filter((panel): panel is Panel => panel.type !== 'row');
    for (const { title, fieldConfig, targets } of panels) {
      const values = fieldConfig.defaults.thresholds.steps.map(({ value }) => value ?? -Infinity);
      expect(values, title).toEqual([...values].sort((a, b) => a - b));
      for (const { expr, legendFormat } of targets) {
        if (!/\bby \(/.test(expr)) continue;
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
          expect(expr, title).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
        }
      }
    }
  },
);

test.skipIf(!found)(
  'Prometheus understands every expression of every dashboard and page',
  async () => {
    const given = [...dashboardExpressions(), ...pageExpressions()];
    const rules = given.map(({ expr }, index) => ({
      record: `shown:${index}`,
      expr,
    }));
    expect(pageExpressions().length).toBeGreaterThan(1);
    expect(rules.length).toBeGreaterThan(100);
    const path = join(newDir('rules'), 'rules.yaml');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, stringify({ groups: [{ name: 'dashboards', rules }] }));
    const { code, text } = await runPromtool(found!.promtool, ['check', 'rules', path]);
    expect(code, text).toBe(0);
  },
);
