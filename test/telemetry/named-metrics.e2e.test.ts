/**
 * Every metric that a dashboard, a rule or a page names is one that a real pod shows, and a real
 * Prometheus that scrapes this pod answers every question.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/telemetry/metrics/catalogue.ts';
import { blocksOf, pages, readPage } from '../docs/markdown.ts';
import { type Stage, setStage } from '../docs/runbook-stage.ts';
import { makeWorkspace, removeWorkspace } from '../docs/workspace.ts';
import { findPrometheus, runPromtool } from '../support/prometheus.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { PROMETHEUS, recordRules } from './alert-files.ts';
import {
  dashboardExpressions,
  familyOf,
  groupingsIn,
  namesIn,
  pageExpressions,
  ruleExpressions,
  selectorsIn,
} from './expressions.ts';
import { type LivePrometheus, startPrometheus } from './live-prometheus.ts';

const newDir = useTempDirs();
const found = findPrometheus();
const shipped = [...dashboardExpressions(), ...ruleExpressions(), ...pageExpressions()];
const recorded = new Set(recordRules().map(({ record }) => record));
/** Of these there is nothing to see where nothing is wrong. */
const CALM = /firing|store answer|store that failed|A pod drains|Pods died|do they wait/;
let workspace: string;
let stage: Stage;
let families: Set<string>;
let live: LivePrometheus | undefined;

beforeAll(async () => {
  workspace = makeWorkspace();
  stage = await setStage(workspace);
  const text = await (await fetch(`http://${stage.at}/metrics`)).text();
  families = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1]!));
  if (found) live = await startPrometheus(found.prometheus, newDir('prometheus'), stage.at);
}, 180_000);
afterAll(async () => {
  await live?.stop();
  await stage?.remove();
  removeWorkspace(workspace);
});

function isThere(name: string): boolean {
  // What `fleetq sink` shows no pod does; test/docs/metrics.test.ts looks at those.
  if (name.startsWith('fleetq_sink_')) return name in CATALOGUE;
  if (name.includes(':')) return recorded.has(name);
  return familyOf(name, families) !== undefined;
}

test('every metric of a dashboard or a rule is one that a pod shows', () => {
  const missing = shipped.flatMap(({ where, expr }) =>
    namesIn(expr)
      .filter((name) => !isThere(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(missing).toEqual([]);
  expect(new Set(shipped.flatMap(({ expr }) => namesIn(expr))).size).toBeGreaterThan(50);
  expect(isThere('fleetq_slots_bussy')).toBe(false);
});

test('every metric that a page names is one that a pod shows', () => {
  const files = [...pages(), 'deploy/README.md', 'CHANGELOG.md'];
  const named = files.flatMap((page) => namesIn(readPage(page)).map((name) => ({ page, name })));
  const roles: readonly string[] =
    readPage('deploy/postgres/roles.sql').match(/\bfleetq_\w+/g) ?? [];
  const ours = named
    .filter(({ name }) => /^(fleetq|nodejs|process)_|^job_machine:/.test(name))
    .filter(({ name }) => !roles.includes(name));
  expect(ours.length).toBeGreaterThan(15);
  expect(ours.filter(({ name }) => !isThere(name))).toEqual([]);
});

test('labels that are asked for are labels that the metric has', () => {
  const given = ['job', 'instance', 'le'];
  const own: Readonly<Record<string, { readonly labels: readonly string[] }>> = CATALOGUE;
  const known = new Set([...given, ...Object.values(own).flatMap(({ labels }) => labels)]);
  for (const { where, expr } of shipped) {
    for (const { name, labels } of selectorsIn(expr)) {
      const has = own[familyOf(name, families) ?? '']?.labels;
      if (has === undefined) continue;
      expect([...given, ...has], `${where}: ${name}`).toEqual(expect.arrayContaining(labels));
    }
    expect([...known], where).toEqual(expect.arrayContaining(groupingsIn(expr)));
  }
});

test.skipIf(!found)('a Prometheus that scrapes a pod answers every question', async () => {
  // While it looks: two runs that end well, and one that fails at its second attempt.
  for (const name of ['Ada', 'Grace', 'Mallory']) {
    await stage.perform(`fleetq enqueue greet --input '{"name":"${name}"}' --wait`);
  }
  await live!.untilScraped('increase(fleetq_retries_total[1m]) > 0');
  const empty: string[] = [];
  for (const { where, expr } of shipped) {
    const answer = await live!.query(expr);
    expect(answer, `${where}: ${expr}`).toMatchObject({ status: 'success' });
    if (answer.data?.result.length === 0) empty.push(where);
  }
  const shown = new Set(dashboardExpressions().map(({ where }) => where));
  const unanswered = empty.filter((where) => shown.has(where) && !CALM.test(where));
  expect(unanswered).toEqual([]);
});

test.skipIf(!found)('it evaluates every rule, and a fleet that is well fires none', async () => {
  const rules = await live!.rules();
  expect(rules.length).toBe(ruleExpressions().length);
  expect(rules.filter(({ health }) => health === 'err')).toEqual([]);
  const firing = await live!.query('ALERTS{alertname=~"Fleetq.+",alertstate="firing"}');
  expect(firing.data?.result).toEqual([]);
});

test.skipIf(!found)('the scrape configurations of the pages are taken by Prometheus', async () => {
  const page = 'docs/how-to/watch-a-fleet.md';
  const configs = blocksOf(page).filter(({ text }) => text.startsWith('scrape_configs:'));
  expect(configs.length).toBe(2);
  const directory = newDir('scrape');
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(PROMETHEUS, 'alerts.yaml'), join(directory, 'alerts.yaml'));
  for (const { text, line } of configs) {
    const path = join(directory, 'prometheus.yaml');
    // Debian's build does not know how to ask Kubernetes; all else of it is checked.
    writeFileSync(
      path,
      text.replace(/kubernetes_sd_configs:\n +- role: pod/, 'static_configs: []'),
    );
    const said = await runPromtool(found!.promtool, ['check', 'config', path]);
    expect(said, `${page}:${line}: ${said.text}`).toMatchObject({ code: 0 });
  }
});
